"""Where on this disk does a model lie that somebody names? Nothing is fetched or made for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import MachineError
from harness.models import hub
from harness.models.presets import Preset, presets
from harness.models.resolve import made_path, refuse_unknown

if TYPE_CHECKING:
    from harness.models.hub_client import Client


def located(name: str, *, client: Client | None = None) -> Path:
    """The file that a path, a preset or `owner/repo:quant` stands for.

    Raises `BadInputError` for a name that stands for nothing, and `MachineError` with the command
    that fetches it for a model that is not on this disk.
    """
    path = Path(name).expanduser()
    if path.is_file():
        return path
    preset = presets().get(name.lower())
    match = hub.REFERENCE.fullmatch(name)
    if preset is not None:
        found = preset_path(preset, client=client)
    elif match is not None:
        found = hub.kept(match["repository"], match["quantisation"], client=client)
    else:
        raise refuse_unknown(name)
    if found is None:
        message = f"{name} is not on this disk; `python -m harness models get {name}` fetches it"
        raise MachineError(message)
    return found


def preset_path(preset: Preset, *, client: Client | None = None) -> Path | None:
    """Where a preset lies when it can be used without fetching or making anything."""
    if preset.repository is not None:
        return hub.kept(preset.repository, preset.quantisation, client=client)
    path = made_path(preset)
    return path if path.is_file() else None
