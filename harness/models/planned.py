"""What is known about a model that is not on this disk yet? Enough for a plan, without fetching."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import BadInputError
from harness.model import ModelFile
from harness.models import hub
from harness.models.located import preset_path
from harness.models.presets import presets
from schemas.canonical import slug
from schemas.submission import Model

if TYPE_CHECKING:
    from harness.models.hub_client import Client

_MB = 1_000_000


def planned(name: str, *, client: Client | None = None) -> ModelFile | None:
    """A stand-in for a preset that would have to be fetched or made; `None` for all else.

    Raises `BadInputError` for a hub file that is not on this disk: nothing is known about it.
    """
    preset = presets().get(name.lower())
    if preset is None:
        _refuse_unknown(name, client)
        return None
    if preset_path(preset, client=client) is not None:
        return None
    model = Model(
        id=f"{slug(preset.model)}-{slug(preset.quantisation)}",
        name=preset.model,
        family=preset.family,
        quantisation=preset.quantisation,
        file_bytes=preset.size_mb * _MB if preset.size_mb else None,
        repository=preset.repository,
    )
    return ModelFile(path=Path(preset.name), model=model)


def _refuse_unknown(name: str, client: Client | None) -> None:
    match = hub.REFERENCE.fullmatch(name)
    if match is None or Path(name).is_file():
        return
    if hub.kept(match["repository"], match["quantisation"], client=client) is None:
        message = f"{name} is not on this disk, and --dry-run fetches nothing; run it without"
        raise BadInputError(message)
