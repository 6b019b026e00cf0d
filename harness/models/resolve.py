"""Resolve the value of `--target` or `--draft`: a path, a preset, or a hub file."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from harness import files
from harness.errors import BadInputError, suggestion
from harness.models import embedded, gguf_shape, hub
from harness.models.embedded import derive
from harness.models.model_file import ModelFile, WeightsFile
from planner.catalog import preset_facts
from planner.names import ModelRef, read_model
from planner.presets import (
    DEFAULT_DRAFT,
    DEFAULT_QUANTISATION,
    HEAD,
    Preset,
    preset_named,
    preset_of,
    presets,
    unknown_tag,
)
from planner.shapes import shapes
from schemas.codec import slug
from schemas.submission import Model
from schemas.vocabulary import METHODS, RUNNERS

if TYPE_CHECKING:
    from harness.models.hub_client import Hub

_OTHER_NAMES = "name a preset or owner/repo:quant"
# The URL of a hub file or page, as copied from a browser.
_ADDRESS = re.compile(r"file://(.+)|(?:https?://)?[\w-]+(?:\.[\w-]+)+/([\w.-]+/[\w.-]+)")


def is_model(word: str) -> bool:
    """Whether a word names a model: an existing file, a known name or `owner/repo:quant`."""
    file = os.path.isfile(files.expanded(word))  # noqa: PTH113 - is_file raises for a long name
    known = file or preset_named(word) is not None
    return known or (":" in word and hub.reference(word) is not None)


def names() -> tuple[str, ...]:
    """Return the names that every command accepts: presets, and models of known shape."""
    return tuple(dict.fromkeys((*presets(), *(shape.name for shape in shapes()))))


def meaning(ref: ModelRef) -> Path | Preset | tuple[str, str]:
    """Return what a name means: a file on this disk, a preset, or a repository and quantisation.

    Raises `BadInputError` for an unknown name.
    """
    path = files.expanded(ref.written)
    found = path if path.is_file() else preset_of(ref) or hub.reference(ref.written)
    if found is None:
        raise refuse_unknown(ref.written)
    return found


def resolve(value: str, *, say: Callable[[str], None]) -> WeightsFile:
    """Return the weights that `value` names, fetched or made if necessary.

    Raises `BadInputError` for an unknown name, `MachineError` if fetching or making the weights
    fails.
    """
    match meaning(read_model(value)):
        case Path() as path:
            return WeightsFile(path=path)
        case Preset() as preset:
            return _from_preset(preset, say)
        case _:
            return hub.fetch(value, say=say)


def refuse_unknown(value: str) -> BadInputError:
    """Return the error for an unknown model, or for a known model in an unknown quantisation."""
    tag = unknown_tag(read_model(value))
    model = value.removesuffix(f":{tag}")
    if tag and preset_named(model) is not None:
        return BadInputError(
            f"`{tag}` is not a known quantisation; name a known quantisation, such as "
            f"{model}:{DEFAULT_QUANTISATION}"
        )
    if files.expanded(value).is_dir():
        message = f"{value} is a folder; name a GGUF file in this folder"
        for runner in (name for name, kind in RUNNERS.items() if kind.loads_folders):
            message += f", or for safetensors on a Mac use `run --runner {runner} --target {value}`"
        return BadInputError(message)
    if address := _ADDRESS.match(value):
        return BadInputError(f"{value} is an address; write {address[1] or address[2]}")
    if value.lower().endswith(".gguf"):
        known = preset_named(Path(value).stem)
        instead = f"name {known.name}, which is the same model" if known else _OTHER_NAMES
        return BadInputError(f"{value} does not exist; check the path, or {instead}")
    hint = suggestion(value.lower(), names(), most=3)
    return BadInputError(
        f"{value!r} is neither a file, nor a known name, nor a reference such as owner/repo:quant."
        f"{hint or ' `python -m harness models` lists the names.'}"
    )


def _from_preset(preset: Preset, say: Callable[[str], None]) -> WeightsFile:
    """Return the weights of a preset, with name and family from the table of presets."""
    _require_source(preset)
    if preset.repository is not None:
        path = hub.fetch(preset.reference, say=say).path
    else:
        path = embedded.embedded(say=say)
        if preset.name != DEFAULT_DRAFT:
            path = derive(path, made_path(preset).name, preset, say=say)
    return WeightsFile.of_preset(path, preset)


def _require_source(preset: Preset) -> None:
    """Raise `BadInputError` for a model whose repository is unknown."""
    if preset.repository is None and not preset.made:
        raise BadInputError(
            f"{preset.name} can be planned, but not downloaded, because its repository is "
            "unknown; name a GGUF file or owner/repo:quant"
        )


def made_path(preset: Preset) -> Path:
    """Return the path that a derived preset has once it is made."""
    if preset.name == DEFAULT_DRAFT:
        return files.directory() / embedded.FILE_NAME
    pruned = f"-pruned-{len(preset.pruned_layers)}" if preset.pruned_layers else ""
    return files.directory() / f"{preset.model}.{preset.quantisation}{pruned}.gguf"


def on_disk(name: str) -> Path | None:
    """Find the local file for a path, preset or `owner/repo:quant`. Raises `BadInputError`."""
    match meaning(read_model(name)):
        case Path() as path:
            return path
        case Preset() as preset:
            return preset_path(preset)
        case repository, quantisation:
            return hub.cached(repository, quantisation)


def own_head(name: str) -> str | None:
    """Return the method that uses a target's built-in head; `None` if no head is known."""
    preset = preset_named(name)
    method = METHODS.get(preset.method or "") if preset else None
    if method is not None or preset is not None:
        return method.id if method and method.draft == "built-in" else None
    path = on_disk(name)
    has_head = path is not None and gguf_shape.facts_of_file(path).draft_layers
    return HEAD if has_head else None


def preset_path(preset: Preset, *, client: "Hub | None" = None) -> Path | None:
    """Return the path of a preset; `None` if the preset must first be fetched or made."""
    if preset.repository is not None:
        return hub.cached(preset.repository, preset.file or preset.quantisation, client=client)
    path = made_path(preset)
    return path if preset.made and path.is_file() else None


def planned(name: str) -> ModelFile | None:
    """Describe a preset that would have to be fetched or made; `None` otherwise.

    Raises `BadInputError` for a hub file that is not on this disk, because no facts about the file
    are known.
    """
    if on_disk(name) is not None:
        return None
    preset = preset_named(name)
    if preset is None:
        raise BadInputError(
            f"{name} is not on this disk, and --dry-run fetches nothing; run the command "
            "without --dry-run"
        )
    _require_source(preset)
    facts = preset_facts(preset)
    model = Model(
        id=f"{slug(preset.model)}-{slug(preset.quantisation)}",
        name=preset.model,
        family=preset.family,
        quantisation=preset.quantisation,
        file_bytes=round(facts.model_bytes) if facts else None,
        repository=preset.repository,
    )
    return ModelFile(path=made_path(preset) if preset.made else Path(preset.name), model=model)
