"""Find the facts about a named model, reading only the header of a file on the hub."""

import atexit
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from msgspec.structs import replace

from harness.errors import MachineError
from harness.models import gguf_shape, hub
from harness.models.gguf_file import sparse_copy
from harness.models.gguf_parse import parse_header
from harness.models.resolve import meaning, preset_path, refuse_unknown
from planner.catalog import model_meant, model_of
from planner.names import ModelRef, read_model
from planner.presets import Preset
from planner.sized_shapes import shape_named
from planner.ways import PlannedModel

if TYPE_CHECKING:
    from harness.models.hub_client import Hub


def find(ref: ModelRef, *, say: Callable[[str], None], client: "Hub | None" = None) -> PlannedModel:
    """Return the facts about the model that a path, a preset or `owner/repo:quant` names.

    A preset that is not on this disk gets the facts in the tables of `planner/`, or if those lack
    the model, in the header on the hub.

    Raises `BadInputError` for an unknown name, and `MachineError` if neither source has the facts.
    """
    match meaning(ref):
        case Path() as path:
            return _from_file(path, server_name=str(path))
        case Preset() as preset:
            return _from_preset(preset, say, client)
    name = hub.without_host(ref.written)
    try:
        return _from_hub(name, say, client)
    except MachineError:
        listed = model_meant(ref)
        if listed is None:
            raise
        return replace(listed, server_name=f"-hf {name}")


def of_preset(preset: Preset, *, client: "Hub | None" = None) -> PlannedModel | None:
    """Return the model of a preset: from its file if it is on this disk, else from the tables."""
    path = preset_path(preset, client=client)
    if path is None:
        return model_of(preset)
    return replace(_from_file(path, server_name=str(path)), preset=preset)


def _from_file(path: Path, *, server_name: str) -> PlannedModel:
    facts = gguf_shape.facts_of_file(path)
    shape = shape_named(read_model(facts.name).slug)
    return PlannedModel(facts=facts, path=path, server_name=server_name, shape=shape)


def _from_hub(reference: str, say: Callable[[str], None], client: "Hub | None") -> PlannedModel:
    local = hub.cached(*hub.parts(reference), client=client)
    if local is not None:
        return _from_file(local, server_name=f"-hf {reference}")
    say(f"Reading the header of {reference} …")
    headers = {
        name: parse_header(name, read)
        for name, read in hub.readers(reference, client=client).items()
    }
    facts = gguf_shape.facts_of(reference, list(headers.values()))
    # Sparse files with these headers, whose vocabularies can be compared; deleted when the program
    # ends.
    folder = TemporaryDirectory(prefix="draftmap-headers-")
    atexit.register(folder.cleanup)
    paths = [Path(folder.name) / Path(name).name for name in headers]
    for path, header in zip(paths, headers.values(), strict=True):
        sparse_copy(header.data[: header.end], header.file_bytes, path)
    return PlannedModel(
        facts=facts,
        path=paths[0],
        server_name=f"-hf {reference}",
        shape=shape_named(read_model(facts.name).slug),
    )


def _from_preset(preset: Preset, say: Callable[[str], None], client: "Hub | None") -> PlannedModel:
    listed = of_preset(preset, client=client)
    if listed is not None:
        return listed
    if preset.repository is None:
        raise refuse_unknown(preset.name)
    return _from_hub(preset.reference, say, client)
