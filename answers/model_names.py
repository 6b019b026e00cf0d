"""Read model names and their quantisations as people write them: `qwen3.6:27b`, `UD-Q4_K_XL`.

`quantisations.csv` has the bits per weight. A row's pattern is its `match` if it has one, else its
name. For names that do not fix the bits, `error` is the share by which the weights may be larger.
"""

import csv
import json
import re
from functools import cache
from importlib import resources
from typing import Any

import msgspec

from schemas.vocabulary import MODEL_GENERATIONS, MODEL_SLUGS, model_name
from schemas.vocabulary.documents import document

# Files of one quantisation differ in which tensors get more bits: by 6 % in a public log.
WEIGHTS_ERROR = 0.08
_TEXT = ("name", "match")
_FLOATS = frozenset(("F32", "F16", "BF16"))
# "4-bit" and "4.5bpw", but not "mixed 2-3-8bit", which does not state the average.
BITS = re.compile(r"(?<![A-Z0-9.])(?<!(?<![A-Z0-9])\d_)(\d(?:\.\d+)?)_?(?:BITS?|BPW)(?![A-Z0-9])")
_SCALES = 0.5  # bits per weight for the scales, in formats with a whole number of bits
_BITS_ERROR = 0.15
# Words that do not affect which weights are meant: the usual tuning, the kind of file, the month of
# a release.
TAGS = "|".join(
    (*document("spellings")["models"]["tags"].split(), r"2[3-9](?:0[1-9]|1[0-2])|[01]\d[0-3]\d")
)
_CACHE = re.compile(document("spellings")["patterns"]["cache"], re.ASCII)
_VARIANTS = "|".join(document("spellings")["models"]["variants"].split())
_SAME_MODEL = re.compile(TAGS)
_HUB = r"(?:(?:hf|huggingface)\.co/)"  # Ollama: `hf.co/owner/repo:quantisation`
# A family and its number: `qwen36`, `qwen-3.6`, `llama3.1`; `qwen3-8b` is generation 3.
GENERATION = re.compile(
    rf"(?<![a-z])(?:meta-)?({'|'.join(sorted(MODEL_GENERATIONS, key=len, reverse=True))})"
    r"-?v?(\d)(?:(?:\.?(\d)|-(\d)(?=-))?(?=n?-|n?$))"
)


class Quantisation(msgspec.Struct, frozen=True, kw_only=True):
    """Bits per weight of the layers, the token embedding and the output matrix."""

    name: str
    body: float
    embedding: float
    output: float
    error: float = WEIGHTS_ERROR


def quantisation_of(name: str) -> Quantisation | None:
    """Bits per weight of the quantisation that a text names, wherever in the text."""
    found = find_quantisation(name)
    return found[0] if found else None


@cache
def find_quantisation(text: str) -> tuple[Quantisation, str] | None:
    """A quantisation, and the part of the text that names it (`UD-` included), or `None`."""
    text = without_cache(text)
    plain = _joined(text)
    if "NOT_STATED" in plain:
        return None
    for pattern, bits in patterns():
        if bits.name in _FLOATS and (found := BITS.search(plain)):
            return _of_bits(found[1]), text[found.start() : found.end()]
        if found := pattern.search(plain):
            return bits, text[found.start() : found.end()]
    found = BITS.search(plain)
    return (_of_bits(found[1]), text[found.start() : found.end()]) if found else None


def without_cache(text: str) -> str:
    """The text with blanks for the quantisation of the cache: `q8_0 KV cache`."""
    for found in _CACHE.finditer(_joined(text)):
        text = text[: found.start()] + " " * len(found[0]) + text[found.end() :]
    return text


def _joined(text: str) -> str:
    """The text as the patterns of quantisations expect it, of the same length."""
    return re.sub(r"[-\s/:]", "_", text.upper())


def quantisation_label(text: str) -> str | None:
    """The quantisation in a text, spelled as in file names: `ud q4_k_xl` becomes `UD-Q4_K_XL`."""
    found = find_quantisation(text)
    if found is None:
        return None
    bits, written = found[0].name, re.sub(r"[\s_-]+", "_", found[1].upper())
    dynamic = "UD-" if written == f"UD_{bits.removeprefix('UD_')}" else ""
    return dynamic + bits.removeprefix("UD_")


def _of_bits(bits: str) -> Quantisation:
    """A quantisation stated only in bits; a whole number of bits does not include the scales."""
    body = float(bits) if "." in bits else float(bits) + _SCALES
    return Quantisation(
        name=f"{bits}-bit", body=body, embedding=body, output=body, error=_BITS_ERROR
    )


@cache
def patterns() -> tuple[tuple[re.Pattern[str], Quantisation], ...]:
    """The rows' patterns in search order: longer names first, then those with a `match`."""
    rows = table("quantisations.csv", _TEXT)
    rows.sort(key=lambda row: -len(row["name"]) if "match" not in row else 0)
    found = []
    for row in rows:
        words = row.pop("match", re.sub("_(?=[A-Z])", "_?", row["name"]))
        pattern = re.compile(rf"(?<![A-Z0-9])(?:UD_)?(?:{words})(?![A-Z0-9])")
        found.append((pattern, Quantisation(**row)))
    return tuple(found)


def table(file: str, text: tuple[str, ...]) -> list[dict[str, Any]]:
    """A table's rows without empty cells; cells are JSON, except in the columns in `text`."""
    lines = resources.files("answers").joinpath(file).read_text(encoding="utf-8").splitlines()
    return [
        {key: cell if key in text else json.loads(cell) for key, cell in row.items() if cell}
        for row in csv.DictReader(lines)
    ]


@cache
def model_key(label: str) -> str:
    """One slug for all spellings of a model: `Qwen3.6:27b-instruct` becomes `qwen3.6-27b`.

    The slug omits the owner, the quantisation, the kind of file, the month of release and words for
    the usual tuning. A name that no rule covers is only turned into a slug, which may be empty.
    """
    bare = re.sub(r"\([^)]*\)", " ", label)
    bare = (bare if bare.strip() else label).lower().strip()
    while found := find_quantisation(bare):
        bare = bare.replace(found[1], " ")
    slug = "-".join(re.findall(r"[a-z0-9./]+", re.sub(r"\.(?=gguf\b|i1\b|\s|$)", " ", bare)))
    slug = re.sub(rf"^{_HUB}?[\w.-]+/(?=[^/]+$)", "", MODEL_SLUGS.get(slug, slug))
    slug = GENERATION.sub(_numbered, slug)
    slug = "-".join(re.findall(r"[a-z0-9.]+", model_name(slug).lower()))
    slug = "-".join(word for word in slug.split("-") if not _SAME_MODEL.fullmatch(word))
    slug = GENERATION.sub(_numbered, slug)
    return MODEL_SLUGS.get(slug, slug)


@cache
def unknown_tag(name: str) -> str | None:
    """The tag after a name's colon; `None` if it is a size, a tuning, a model or a quantisation."""
    tag = name.rpartition(":")[2] if ":" in name else ""
    if find_quantisation(tag):
        return None
    words = re.findall(r"[a-z0-9.]+", tag.lower())
    known = re.compile(rf"[ae]?\d[\d.]*[bm]|\d+k|{TAGS}|{_VARIANTS}")
    left = [word for word in words if not known.fullmatch(word)]
    return tag if left else None


def _numbered(found: re.Match[str]) -> str:
    return MODEL_GENERATIONS[found[1]] + ".".join(filter(None, found.groups()[1:]))
