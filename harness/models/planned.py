"""What is known about a model that is not on this disk yet? Enough for a plan, without fetching."""

from __future__ import annotations

from pathlib import Path

from harness.errors import BadInputError
from harness.model import ModelFile
from harness.models import hub
from harness.models.presets import presets
from harness.models.resolve import on_disk
from schemas.canonical import slug
from schemas.submission import Model

_MB = 1_000_000


def planned(name: str, *, client: hub.Client | None = None) -> ModelFile | None:
    """A stand-in for a preset that would have to be fetched or made; `None` for all else.

    Raises `BadInputError` for a hub file that is not on this disk: nothing is known about it.
    """
    preset = presets().get(name.lower())
    if preset is None:
        _refuse_unknown(name, client or hub.HuggingFace())
        return None
    if on_disk(preset, client=client):
        return None
    model = Model(
        id=f"{slug(preset.model)}-{slug(preset.quantisation)}",
        name=preset.model,
        family=preset.family,
        quantisation=preset.quantisation,
        file_bytes=preset.size_mb * _MB,
        repository=preset.repository,
    )
    return ModelFile(path=Path(preset.name), model=model)


def _refuse_unknown(name: str, client: hub.Client) -> None:
    match = hub.REFERENCE.fullmatch(name)
    if match is None or Path(name).is_file():
        return
    if not hub.complete(client.kept(match["repository"]), match["quantisation"]):
        message = f"{name} is not on this disk, and --dry-run fetches nothing; run it without"
        raise BadInputError(message)
