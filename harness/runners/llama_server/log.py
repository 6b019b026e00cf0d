"""What does a server's log tell that nothing else does? Why it died, and where the layers lie."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from harness.runners.base import Failure
from schemas.submission import DeviceMemory, Reason

# The first phrase that occurs decides, so the particular stands before the general.
_PHRASES: tuple[tuple[str, Reason], ...] = (
    ("out of memory", "out-of-memory"),
    ("failed to allocate", "out-of-memory"),
    ("unable to allocate", "out-of-memory"),
    ("erroroutofdevicememory", "out-of-memory"),
    ("insufficient memory", "out-of-memory"),
    ("kv cache allocation is less than requested", "out-of-memory"),
    ("no available memory for the cache blocks", "out-of-memory"),
    ("is less than desired gpu memory utilization", "out-of-memory"),
    ("vocabs are not compatible", "vocabulary-mismatch"),
    ("vocab type must match", "vocabulary-mismatch"),
    ("vocab special tokens must match", "vocabulary-mismatch"),
    ("vocab contents must match", "vocabulary-mismatch"),
    ("vocab size difference", "vocabulary-mismatch"),
    ("is not compatible with the target", "vocabulary-mismatch"),
    ("should have the same vocabulary size", "vocabulary-mismatch"),
    ("couldn't bind", "load-failed"),
    ("address already in use", "load-failed"),
    ("invalid repository id or local directory", "load-failed"),
    ("error loading model", "load-failed"),
    ("failed to load model", "load-failed"),
    ("failed to load draft model", "load-failed"),
    ("model loading error", "load-failed"),
)
_OFFLOADED = re.compile(r"offloaded (\d+)/(\d+) layers to GPU")
_BUFFER = re.compile(r"load_tensors:\s+(\S+) model buffer size")
_LOADS = re.compile(r"load_tensors: loading model tensors")
_SIZE = re.compile(r"(\S+)\s+(?:model|KV|RS|compute|output) buffer size =\s*([0-9.]+) MiB")
_BAD = re.compile(r"error|failed|abort|assert|mismatch|incompatible", re.IGNORECASE)
_FRAME = re.compile(r"#\d+\s")  # of a backtrace, which comes after the reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Resident:
    """Layers on a GPU, target first, then the draft if one was loaded."""

    target: int | None
    draft: int | None


def reason_in(text: str) -> Reason | None:
    """The reason of a failure that the log names, if it names one."""
    found = _decisive(text)
    return found[1] if found else None


def failure(text: str, *, otherwise: Reason, what: str) -> Failure:
    """Why the server is no more, with the line of its log that says so."""
    return Failure(reason=reason_in(text) or otherwise, detail=f"{what}: {last_words(text)}")


def last_words(text: str) -> str:
    """The last line with the reason, else one that speaks of an error, or the last one at all."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    found = _decisive(text)
    telling = [line for line in lines if found and found[0] in line.lower()]
    bad = [line for line in lines if _BAD.search(line) and not _FRAME.match(line)]
    return (telling or bad or lines or ["its log is empty"])[-1][:200]


def _decisive(text: str) -> tuple[str, Reason] | None:
    lower = text.lower()
    return next((each for each in _PHRASES if each[0] in lower), None)


def resident_layers(text: str) -> Resident:
    """Layers that really lie on a GPU.

    The engine says "offloaded 31/31" also where there is no GPU at all; then every buffer is one
    of the CPU, and the truth is 0. A build without GPU backends says nothing of layers.
    """
    counts = [_layers(part) for part in _loads(text)]
    return Resident(
        target=counts[0] if counts else None,
        draft=counts[1] if len(counts) > 1 else None,
    )


def _layers(text: str) -> int | None:
    """Layers of one model on a GPU, from the log of its loading."""
    buffers = _BUFFER.findall(text)
    if buffers and all(name.startswith("CPU") for name in buffers):
        return 0
    match = _OFFLOADED.search(text)
    return int(match[1]) if match else None


def buffers_mib(text: str) -> dict[str, float]:
    """Memory that the server reserved, by device: weights, caches and work space, in MiB.

    Weights that are mapped from the file are counted under the device that reads them.
    """
    sizes: dict[str, float] = {}
    for name, size in _SIZE.findall(text):
        device = name.removesuffix("_Mapped").removesuffix("_Host").removesuffix("_REPACK")
        sizes[device] = sizes.get(device, 0.0) + float(size)
    return sizes


def _loads(text: str) -> list[str]:
    """The log of each model's loading, up to the next one's."""
    starts = [match.start() for match in _LOADS.finditer(text)]
    ends = [*starts, len(text)][1:]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def in_use(
    text: str, *, before_mib: Mapping[str, int], after_mib: Mapping[str, int]
) -> tuple[DeviceMemory, ...] | None:
    """Memory per device, `None` if nothing tells: the most of two figures.

    The log names the buffers that were reserved. What each device has less free than before the
    start also holds the driver's own share, but a process that ended meanwhile hides it.
    """
    reserved = {name: round(size) for name, size in buffers_mib(text).items()}
    gone = {
        name: free_mib - after_mib[name]
        for name, free_mib in before_mib.items()
        if name in after_mib
    }
    most = {name: max(reserved.get(name, 0), gone.get(name, 0)) for name in {*reserved, *gone}}
    return (
        tuple(DeviceMemory(device=name, peak_mib=size) for name, size in sorted(most.items()))
        or None
    )
