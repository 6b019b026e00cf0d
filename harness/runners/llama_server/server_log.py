"""Read from a llama-server's log how many layers and how much memory are on the GPU."""

import re
from itertools import pairwise

from schemas.submission import DeviceMemory

_OFFLOADED = re.compile(r"offloaded (\d{1,9})/(\d{1,9}) layers to GPU")
_BUFFER = re.compile(r"load_tensors:\s+(\S+) model buffer size")
_LOADS = re.compile(r"load_tensors: loading model tensors")
_SIZE = re.compile(
    r"(?<!\S)(\S+)\s+(?:model|KV|RS|compute|output) buffer size =\s*(\d{1,9}(?:\.\d{1,9})?) MiB"
)


def resident_layers(text: str) -> tuple[int | None, int | None]:
    """Return the numbers of target and draft layers that are really on a GPU.

    The engine logs "offloaded 31/31" even without a GPU; in that case every buffer is the CPU's,
    and the true number is 0. A build without GPU backends does not mention layers.
    """
    starts = [match.start() for match in _LOADS.finditer(text)]
    loads = (text[start:end] for start, end in pairwise((*starts, len(text))))
    target, draft, *_ = (*map(_layers, loads), None, None)
    return target, draft


def _layers(text: str) -> int | None:
    """Return the number of a model's layers on a GPU, from the log of the model's loading."""
    buffers = _BUFFER.findall(text)
    if buffers and all(name.startswith("CPU") for name in buffers):
        return 0
    match = _OFFLOADED.search(text)
    return int(match[1]) if match else None


def in_use(text: str) -> tuple[DeviceMemory, ...] | None:
    """Return the memory that the server reserved, by device: weights, caches, work space.

    The driver's own share is not included. `None` if the log does not state any size.
    """
    sizes: dict[str, float] = {}
    for name, size in _SIZE.findall(text):
        device = name.removesuffix("_Mapped").removesuffix("_Host").removesuffix("_REPACK")
        sizes[device] = sizes.get(device, 0.0) + float(size)
    return (
        tuple(
            DeviceMemory(device=name, peak_mib=round(size)) for name, size in sorted(sizes.items())
        )
        or None
    )
