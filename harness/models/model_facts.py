"""Find the facts about a named model; of a file on the hub only the header is read."""

import atexit
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from answers.choices import PlannedModel
from answers.model import ModelFacts
from answers.presets import HEAD, Preset, pairs, preset_named, presets
from answers.shapes import facts_of, quantisation_of, scaled, shape_of
from harness import files
from harness.models import gguf_shape, hub, hub_names
from harness.models.gguf_file import sparse_copy
from harness.models.gguf_parse import parse_header
from harness.models.resolve import preset_path, refuse_unknown

if TYPE_CHECKING:
    from harness.models.hub_client import Hub

_MB = 1_000_000
_BY_SHAPE = (
    "sizes of models given by name are from the table of shapes, with weights to within 8 %; "
    "name a file or owner/repo:quant for exact sizes"
)


def find(name: str, *, say: Callable[[str], None], client: "Hub | None" = None) -> PlannedModel:
    """The facts behind a path, a preset, or `owner/repo:quant`.

    A preset whose file is not here is planned from the tables, without asking the hub.

    Raises `BadInputError` for an unknown name, and `MachineError` when the hub gives no header.
    """
    path = files.expanded(name)
    if path.is_file():
        return _from_file(path)
    preset = preset_named(name)
    if preset is not None:
        return _from_preset(preset, say, client)
    if hub_names.reference(name) is None:
        raise refuse_unknown(name)
    return _from_hub(name, say, client)


def preset_facts(preset: Preset, file_bytes: int | None = None) -> ModelFacts | None:
    """The facts that the tables give about a preset; `None` where they have no such model."""
    shape = None if preset.head else shape_of(preset.model)
    if shape is None:
        return None
    size = file_bytes or (preset.size_mb * _MB if preset.size_mb is not None else None)
    facts = facts_of(shape, quantisation_of(preset.quantisation), with_head=preset.method == HEAD)
    kept = (layer for i, layer in enumerate(facts.layers) if i not in preset.pruned_layers)
    facts = replace(facts, layers=tuple(kept))
    return facts if size is None else scaled(facts, file_bytes=size)


def head_facts(preset: Preset, file_bytes: int | None = None) -> ModelFacts | None:
    """About the facts of a head in a separate file, whose size must be known.

    No configuration of one is at hand: its layers are taken to be like its target's, and as many as
    its bytes make. It embeds and puts out tokens with its target's matrices.
    """
    target = next((presets()[each.target] for each in pairs() if each.draft == preset.name), None)
    shape = shape_of(target.model) if target is not None else None
    size = file_bytes or (preset.size_mb or 0) * _MB
    if shape is None or not size:
        return None
    facts = facts_of(shape, quantisation_of(preset.quantisation))
    layer = replace(facts.layers[-1], expert_bytes=0.0)
    count = max(1, round(size / layer.weight_bytes))
    bare = replace(facts, embedding_bytes=0.0, output_bytes=0.0, tied=True, experts=0)
    return scaled(replace(bare, layers=(layer,) * count, draft_layers=()), file_bytes=size)


def _from_file(path: Path) -> PlannedModel:
    return PlannedModel(facts=gguf_shape.facts_of_file(path), path=path, server_name=str(path))


def _from_hub(reference: str, say: Callable[[str], None], client: "Hub | None") -> PlannedModel:
    parts = hub_names.reference(reference)
    local = hub.cached(*parts, client=client) if parts else None
    if local is not None:
        return PlannedModel(
            facts=gguf_shape.facts_of_file(local), path=local, server_name=f"-hf {reference}"
        )
    client = client or hub.default_client()
    say(f"Reading the header of {reference} …")
    headers = {
        name: parse_header(name, read)
        for name, read in hub.readers(reference, client=client).items()
    }
    facts = gguf_shape.facts_of(reference, list(headers.values()))
    # Files with these headers and holes after them, which an engine can be asked about; they are
    # deleted when the program ends.
    folder = TemporaryDirectory(prefix="draftmap-headers-")
    atexit.register(folder.cleanup)
    paths = [Path(folder.name) / Path(name).name for name in headers]
    for path, header in zip(paths, headers.values(), strict=True):
        sparse_copy(header.data[: header.end], header.file_bytes, path)
    return PlannedModel(facts=facts, path=paths[0], server_name=f"-hf {reference}")


def _from_preset(preset: Preset, say: Callable[[str], None], client: "Hub | None") -> PlannedModel:
    path = preset_path(preset, client=client)
    if path is not None:
        return _from_file(path)
    facts = preset_facts(preset)
    if facts is None and preset.repository is None:
        raise refuse_unknown(preset.name)
    if facts is None:
        return _from_hub(preset.reference, say, client)
    name = f"{preset.name.replace(':', '-')}.gguf"
    return PlannedModel(
        facts=facts,
        path=None,
        server_name=f"-hf {preset.reference}" if preset.repository else name,
        notes=() if preset.made else (_BY_SHAPE,),
    )
