"""What do names tell? A file of weights names model and quantisation, a label its vendor."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Literal

from harness.errors import BadInputError, suggestion
from schemas.submission import Reason, Task
from schemas.vocabulary import TASKS

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
