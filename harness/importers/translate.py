"""What do names tell? A file of weights names model and quantisation, a label its vendor."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from harness.errors import BadInputError, suggestion
from harness.importers.facts import Facts
from schemas.method import METHOD_CLASSES
from schemas.submission import DraftModel, EmptyDraft, Method, Model, Oracle, Reason, Task
from schemas.vocabulary import TASKS
from schemas.weights import size_in

Vendor = Literal["nvidia", "amd", "intel", "apple", "qualcomm", "other"]

_WEIGHTS = re.compile(
    r"(?P<name>.+?)[-.]"
    r"(?P<quantisation>(?:UD-)?(?:I?Q[0-9][A-Z0-9_]*|TQ[0-9]_[0-9]|BF16|F16|F32|MXFP4[A-Z_]*))"
    r"(?:-[0-9]{5}-of-[0-9]{5})?",
    re.IGNORECASE,
)
_VENDORS: dict[str, Vendor] = {
    "nvidia": "nvidia",
    "geforce": "nvidia",
    "rtx ": "nvidia",
    "gtx ": "nvidia",
    "tesla": "nvidia",
    "radeon": "amd",
    "amd ": "amd",
    "instinct": "amd",
    "intel": "intel",
    "arc ": "intel",
    "apple": "apple",
    "adreno": "qualcomm",
}
_LONGEST_ID = 64
_DIGEST = 8


def without_folders(path: str) -> str:
    """The last part of a path of any system: folders name people."""
    return re.split(r"[/\\]", path)[-1]


def model_facts(path: str, prefix: str = "") -> dict[str, str]:
    """Name and quantisation, as far as the name of a file of weights says them."""
    stem = re.sub(r"\.(?:gguf|safetensors)$", "", without_folders(path), flags=re.IGNORECASE)
    match = _WEIGHTS.fullmatch(stem)
    name = prefix or "target"
    if match is None:
        return {name: stem} if stem else {}
    key = f"{prefix}_quantisation" if prefix else "quantisation"
    return {name: match["name"], key: match["quantisation"].upper()}


def sampling_of(temperature: float | None) -> dict[str, str]:
    """How tokens were chosen at a temperature; at one that is not known, not greedily."""
    if temperature == 0:
        return {"sampling": "greedy"}
    known = {} if temperature is None else {"temperature": f"{temperature:g}"}
    return {"sampling": "other"} | known


def digest16(text: str) -> str:
    """16 hex digits that are equal for equal texts."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def vendor_of(gpu: str) -> Vendor | None:
    """The vendor that the marketing name of a GPU names."""
    words = f"{gpu.lower()} "
    return next((vendor for sign, vendor in _VENDORS.items() if sign in words), None)


def id_of(text: str) -> str:
    """An id for a text: lower case, other characters as hyphens, cut with a digest if too long."""
    plain = re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-._") or "unnamed"
    if len(plain) <= _LONGEST_ID:
        return plain
    return f"{plain[: _LONGEST_ID - _DIGEST - 1].rstrip('-._')}-{_digest(text)}"


def ids_of(texts: Iterable[str]) -> dict[str, str]:
    """Different ids for different texts."""
    found: dict[str, str] = {}
    for each in texts:
        if each in found:
            continue
        plain = id_of(each)
        taken = plain in found.values()
        found[each] = f"{plain[: _LONGEST_ID - _DIGEST - 1]}-{_digest(each)}" if taken else plain
    return found


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]


_OWN: dict[str, Task] = {entry.id: entry.id for entry in TASKS.values()}


def task_of(
    prompt: str, category: str | None, table: Mapping[str, str], given: Mapping[str, str]
) -> Task:
    """The task of a prompt: as given for it or for its category, else by table, else `other`."""
    names = [name for name in (prompt, category) if name is not None]
    for known in (given, table, _OWN):
        for name in names:
            if name in known:
                return _OWN[known[name]]
    return "other"


def check(given: Mapping[str, str], names: Iterable[str]) -> None:
    """Raise `BadInputError` for an unknown task, or one given for a name that no file has."""
    there = set(names)
    for name, task in given.items():
        if task not in _OWN:
            message = f"--map task.{name}={task}: no such task.{suggestion(task, _OWN)}"
            raise BadInputError(message)
        if name not in there:
            message = f"--map task.{name}: neither category nor prompt.{suggestion(name, there)}"
            raise BadInputError(message)


_SIGNS: dict[str, Reason] = {
    "out of memory": "out-of-memory",
    "outofmemory": "out-of-memory",
    "timed out": "timed-out",
    "timeout": "timed-out",
    "context size": "context-too-small",
    "context length": "context-too-small",
    "connect": "crashed",
    "connection": "crashed",
    "reset by peer": "crashed",
    "remote end closed": "crashed",
    "http": "bad-answer",
    "json": "bad-answer",
}


def reason_of(text: str | None) -> Reason:
    """The first sign in the tool's words decides; without one it is `other`."""
    words = (text or "").lower()
    return next((reason for sign, reason in _SIGNS.items() if sign in words), "other")


METHODS = {kind: cls for kind, cls in METHOD_CLASSES.items() if cls not in (Oracle, EmptyDraft)}


def method(text: str, facts: Facts) -> tuple[Method, Model | None]:
    """The method, and the draft model if it has one. Raises `BadInputError` if it is none."""
    kind, _, rest = text.partition(":")
    cls = METHODS.get(kind)
    if cls is None:
        message = (
            f"--map method={text!r}: no such method.{suggestion(kind, METHODS)} "
            f"A method of another name is other:name={id_of(kind)}"
        )
        raise BadInputError(message)
    fields = {field.name for field in msgspec.structs.fields(cls)}
    values: dict[str, object] = {}
    for pair in filter(None, rest.split(",")):
        key, _, value = pair.partition("=")
        if key not in fields:
            message = f"--map method={text!r}: {kind} has no option {key!r}."
            raise BadInputError(message + suggestion(key, fields))
        values[key] = _value(text, key, value)
    if "controller" in values:
        values["adaptive"] = True
    return _built(cls, values, facts)


def _built(cls: type, values: dict[str, object], facts: Facts) -> tuple[Method, Model | None]:
    names = {field.name for field in msgspec.structs.fields(cls)}
    if "n_max" in names and "n_max" not in values and (depth := facts.whole("n_max")) is not None:
        values["n_max"] = depth
    draft = None
    if "draft" in names:
        draft = _draft(values.pop("draft", None), facts, needed=cls is DraftModel)
        values |= {"draft": draft.id} if draft else {}
    for field in msgspec.structs.fields(cls):
        if field.required and field.name not in values:
            if field.name != "draft":
                facts.missing[field.name if field.name == "n_max" else "method"] = None
            values[field.name] = 1 if field.name.startswith(("n_", "ngram")) else "unknown"
    made: Method = cls(**values)
    return made, draft


def _draft(named: object, facts: Facts, *, needed: bool) -> Model | None:
    name = str(named) if named is not None else facts.text("draft")
    if name is None and not needed:
        return None
    known: Mapping[str, str] = model_facts(name or "", "draft")
    name = known.get("draft") or facts.need("draft")
    quantisation = known.get("draft_quantisation") or facts.need("draft_quantisation")
    return Model(
        id=id_of(f"{name}-{quantisation}"),
        name=name,
        quantisation=quantisation,
        parameters=facts.size("draft_parameters", size_in(name)),
    )


def _value(text: str, key: str, value: str) -> object:
    if key in ("draft", "name", "controller"):
        return value
    if key == "chain":
        return _chain(text, value)
    return _number(text, key, value)


def _chain(text: str, value: str) -> tuple[str, ...]:
    kinds = tuple(value.split("+"))
    for kind in kinds:
        if kind not in METHODS:
            message = f"--map method={text!r}: no such method in a chain."
            raise BadInputError(message + suggestion(kind, METHODS))
    return kinds


def _number(text: str, key: str, value: str) -> int | float | bool:
    if key == "adaptive" and value in ("true", "false"):
        return value == "true"
    try:
        return float(value) if key == "p_min" else int(value)
    except ValueError as error:
        message = f"--map method={text!r}: {key} takes a number, not {value!r}"
        raise BadInputError(message) from error
