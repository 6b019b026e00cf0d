"""Check whether the name, quantisation label and size of a file of weights agree."""

import re
from functools import cache
from typing import TypeAlias

from schemas.submission import Model
from schemas.vocabulary.documents import document

# 27B and 0.5B are sizes; the 7B of 8x7B and the 4B of E4B are not.
_SIZE = re.compile(r"(?<![A-Za-z0-9.])([0-9]+(?:\.[0-9]+)?[BM])(?![A-Za-z0-9])", re.IGNORECASE)
_ACTIVE = re.compile(r"(?<![A-Za-z0-9])A([0-9]+(?:\.[0-9]+)?B)(?![A-Za-z0-9])", re.IGNORECASE)
# `17B-16E` names the active parameters and the experts, not the total.
_EXPERTS = re.compile(r"(?<![A-Za-z0-9])[0-9]+E(?![A-Za-z0-9])", re.IGNORECASE)
_MULTIPLES = {"M": 1e6, "B": 1e9}
_BITS_PER_BYTE = 8
# A file of a smaller model is mostly its tokenizer.
_LEAST_PARAMETERS = 50_000_000
# Names are rounded, with or without embeddings; a misplaced decimal point is a factor of 10.
NAME_FACTOR = 5.0


# The minimum and maximum of bits per weight in files with a quantisation label.
Bits: TypeAlias = tuple[float, float]


def size_in(name: str, *, active: bool = False) -> str | None:
    """The number of parameters in a model's name, such as 27B; `active` are those per token."""
    match = (_ACTIVE if active else _SIZE).search(name)
    return match[1] if match else None


def parameters_of(size: str | None) -> int | None:
    """The number of parameters in a size such as `8.2B`, `135M` or a full number."""
    if size is None:
        return None
    unit = size[-1].upper()
    return round(float(size.rstrip("BMbm")) * _MULTIPLES.get(unit, 1.0))


def bits_of(label: str) -> Bits | None:
    """The accepted bits per weight for a quantisation label; `None` for an unknown label."""
    plain = label.upper().removeprefix("UD-")
    return next((bits for start, bits in _table() if plain.startswith(start)), None)


def contradicts_label(model: Model) -> tuple[float, Bits] | None:
    """The bits per weight of a model's file and of its label, if the two contradict each other."""
    allowed = bits_of(model.quantisation)
    parameters = model.parameters or 0
    if allowed is None or model.file_bytes is None or parameters < _LEAST_PARAMETERS:
        return None
    (least, most), bits = allowed, model.file_bytes * _BITS_PER_BYTE / parameters
    return None if least <= bits <= most else (bits, allowed)


def contradicts_name(model: Model) -> str | None:
    """The size in the model's name, if the parameters differ from it by more than a factor of 5.

    This is checked only if there is no file: people choose names freely, but the parameters in a
    file are counted.
    """
    sizes = [] if _EXPERTS.search(model.name) else _SIZE.findall(model.name)
    if model.parameters is None or model.file_bytes is not None or not sizes:
        return None
    named = (float(size[:-1]) * _MULTIPLES[size[-1].upper()] for size in sizes)
    if any(n / NAME_FACTOR <= model.parameters <= n * NAME_FACTOR for n in named if n > 0):
        return None
    return str(sizes[0])


@cache
def _table() -> tuple[tuple[str, Bits], ...]:
    kinds = document("quantisations")["kind"]
    return tuple((each, (kind["least"], kind["most"])) for kind in kinds for each in kind["labels"])
