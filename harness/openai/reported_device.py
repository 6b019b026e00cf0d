"""Find a server's device in its answers, its log, the machine or the options; else ask the user."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from estimates.gpu_names import is_placeholder, vendor_of
from estimates.used_gpus import find_named, shares_memory, usable
from harness.errors import BadInputError
from harness.machine.detect import clean_name, machine
from harness.openai.endpoints import Endpoint
from harness.openai.server_identity import EngineName, ServerIdentity
from harness.runners.http.client import ServerAddress
from harness.runners.options import ConnectionOptions
from schemas import private, public_text
from schemas.rig import BACKENDS, Backend, Vendor
from schemas.submission import Device, Gpu, Machine

# Version suffixes of builds for one backend: `0.32.0+cpu`, `0.11.0+cu129`, `0.9.1+rocm631`.
_MARKS: tuple[tuple[str, Backend], ...] = (("cpu", "cpu"), ("cu", "cuda"), ("rocm", "rocm"))
# The only backend of an engine for a vendor's cards. A version of vLLM from the package index has
# no suffix; builds for the CPU have one.
_ONLY_BACKENDS: Mapping[EngineName, Mapping[Vendor, Backend]] = {
    "vLLM": {"nvidia": "cuda", "amd": "rocm"},
    "SGLang": {"nvidia": "cuda", "amd": "rocm"},
    "Ollama": {"nvidia": "cuda", "apple": "metal"},
    "LM Studio": {"apple": "metal"},
}
# A line in llama.cpp's log: `using device CUDA0 (NVIDIA GeForce RTX 4090) - 23000 MiB free`.
_USED = re.compile(r"using device (\w+) \((.+?)\)(?: \([0-9a-f:.]+\))? - \d+ MiB free")
_CARD_NAME = re.compile(r"[^\W_][\w .+()/-]{1,79}")
_SIZE = re.compile(r"(?<!\s)\s*+\b(\d{1,4})\s*+Gi?B$", re.IGNORECASE)
_MIB_PER_GIB = 1024


def computed_on(
    identity: ServerIdentity,
    options: ConnectionOptions,
    endpoint: Endpoint,
    *,
    log: str = "",
    describe: Callable[[Mapping[str, str]], Machine] = machine,
) -> tuple[Backend, tuple[Device, ...] | None]:
    """Return a server's backend, and its GPUs if options, log or environment select them.

    `log` is the log of a server that the harness started; `describe` returns the machine as a
    program with a given environment sees it. Raises `BadInputError` with a question if the device
    cannot be detected.
    """
    backend = BACKENDS[options.backend] if options.backend else backend_of(identity)
    if backend == "cpu":
        return backend, None
    variables = {} if isinstance(endpoint, ServerAddress) else own_variables(endpoint)
    cards = describe({**os.environ, **variables}).gpus
    logged = {each[1]: public_text.card(clean_name(each[2])) for each in _USED.finditer(log)}
    devices = _named(options.device_names, cards) or tuple(
        Device(name=name, kind="gpu", description=card) for name, card in logged.items()
    )
    used = devices
    if not devices:
        fitting = usable(cards, backend or "other")
        _require_one(fitting, cards, identity.shown_name, backend)
        used = _devices(fitting)
        devices = used if variables else ()
    return backend or _only_backend(identity.name, used), devices or None


def _only_backend(engine: EngineName, cards: Sequence[Device]) -> Backend:
    """Return the only backend that an engine has for these cards; `other` if it has several."""
    known = _ONLY_BACKENDS.get(engine, {})
    found = {known.get(vendor_of(card.description or ""), "other") for card in cards}
    return found.pop() if len(found) == 1 else "other"


def backend_of(identity: ServerIdentity) -> Backend | None:
    """Return the backend that a server reports, or that the suffix of its version names."""
    if identity.backend is not None:
        return identity.backend
    mark = (identity.version or "").partition("+")[2]
    return next((backend for start, backend in _MARKS if mark.startswith(start)), None)


def own_variables(command: Sequence[str]) -> dict[str, str]:
    """Return the variables that a command `env NAME=VALUE … program` sets; else none."""
    assigned = takewhile(lambda word: "=" in word or word.startswith("-"), command[1:])
    pairs = (word.partition("=") for word in assigned if not word.startswith("-"))
    is_env = Path(command[0]).name == "env"
    return {name: value for name, _, value in pairs} if is_env else {}


def check_options(options: ConnectionOptions) -> None:
    """Raise `BadInputError` for a GPU name that the file format does not allow."""
    for card in options.device_names:
        if not _CARD_NAME.fullmatch(card) or private.found(card):
            raise BadInputError("--device-name takes the name of a card, such as 'RTX 4090 24 GB'")


def _named(names: Sequence[str], cards: Sequence[Gpu]) -> tuple[Device, ...]:
    """Return the GPUs that the user named; one that is not detected gets the size in its name."""
    left, found = list(cards), []
    for name in names:
        size, bare = _SIZE.search(name), clean_name(_SIZE.sub("", name))
        card = find_named(left, bare)
        if card is not None:
            left.remove(card)
        mib = int(size[1]) * _MIB_PER_GIB if size else None
        found.append(card or Gpu(name=bare, vram_mib=mib))
    return _devices(found)


def _devices(cards: Sequence[Gpu]) -> tuple[Device, ...]:
    return tuple(
        Device(name=f"GPU{at}", kind="gpu", description=card.name, memory_total_mib=card.vram_mib)
        for at, card in enumerate(cards)
    )


def _require_one(
    fitting: Sequence[Gpu], seen: Sequence[Gpu], engine: str, backend: Backend | None
) -> None:
    """Raise an error that asks the user, unless only one GPU is possible.

    A server may use just one of several GPUs.
    """
    # Many engines do not use integrated graphics, except Apple's.
    sure = backend is not None or any(
        card.vendor == "apple" or not shares_memory(card) for card in fitting
    )
    if len(fitting) == 1 and sure and not is_placeholder(fitting[0].name):
        return
    listed = ", ".join(_shown(card) for card in fitting or seen) or "no card"
    known = (_shown(card) for card in fitting if not is_placeholder(card.name))
    example = next(known, "RTX 4090 24 GB")
    unsure = "" if backend else "if it runs on the CPU, add --backend cpu; otherwise "
    raise BadInputError(
        f"{engine} does not report which card it computes on, and this machine has {listed}; "
        f"{unsure}name each card in use, as in --device-name '{example}'"
    )


def _shown(card: Gpu) -> str:
    gib = "" if card.vram_mib is None else f" {round(card.vram_mib / _MIB_PER_GIB)} GB"
    return card.name + gib
