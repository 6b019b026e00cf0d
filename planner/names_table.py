"""Compile the table of names: the spellings of cards, models, quantisations and engines, as data.

The readers in `planner/names.py` and `site_src/assets/javascripts/names.js` share this table and no
other knowledge. Every fact has one home: `schemas/devices.json`, `spellings.toml`, `aliases.toml`
and `quantisations.csv`.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

import msgspec

from estimates.roofline import devices
from planner.model_names import CACHE, compiled, quantisations, replaced, table
from schemas.vocabulary import MODEL_NAMES, MODEL_SLUGS, model_name
from schemas.vocabulary.documents import document

_SOURCE = document("spellings")
PRINTED: Mapping[str, str] = _SOURCE["printed"]
# Words that do not affect which weights are meant: the usual tuning, the kind of file, the month of
# a release, quantisations of parts such as "OutQ8".
_DATES = r"2[3-9](?:0[1-9]|1[0-2])|[01]\d[0-3]\d"
_TAGS = "|".join((*_SOURCE["models"]["tags"].split(), _DATES, r"[a-z]\w*q\dk?"))
# The number of a family; the first steps of slugs are for typed names.
_NUMBERED = compiled(_SOURCE["steps"]["slug"][2:])
_MAKERS = {
    "n": r"[rg]tx|gt |mx\d|titan|tesla|quadro|jetson|cmp|p10\d|g[bh]\d|orin|[tlahb]\d",
    "i": "arc|iris|max|flex",
    "m": "apple",
}
_TEXT = ("name", "match", "architecture", "source")
# A mixture without its active or its total size.
_SHORT = (r"-a\d[\d.]*b(?=-|$)", r"-\d[\d.]*b(?=-a\d)")
# Cards of laptops.
_PORTABLE = r"laptop|\d[ms]\b|^mx|1650 ti|quadro (?:t\d|rtx 3)000|rtx a3000"
Steps = tuple[tuple[str, str], ...]
_KINDS = ("count", "laptop", "engine", "task", "maker", "variant", "noise")


class NamesTable(msgspec.Struct, frozen=True, kw_only=True):
    """All that a reader knows; pages load it as it is.

    `cards` has a line for each card: `name,spellings|mark|memory|p|sizes`. Its mark is the letter
    of its maker, and `+` if it uses main memory; `memory` the usual one in GiB; `p` if laptops have
    it. `sizes` are the size in its name (0 if there is none) and those after a change. The
    spellings are those that `forms`, which are replacements in the name, do not give. `models` has
    a line for each known model: its slug, and other spellings. `keys` are kinds, their
    meanings and squeezed spellings: `count`, `2`; `engine`, `vllm`; `maker`, `na` and `variant`,
    `na` for words that make a card of these makers another one. `steps` are
    replacements in a text, in order, and `classes` the kinds of words in a model's name.
    """

    cards: str
    forms: Steps
    models: str
    keys: tuple[tuple[str, str, str], ...]
    steps: Mapping[str, Steps]
    patterns: Mapping[str, str]
    units: Mapping[str, float]
    classes: Steps
    quantisations: tuple[str, ...]


@cache
def names_table() -> NamesTable:
    """The table, compiled once."""
    labels, quantisation = quantisations()
    patterns = _SOURCE["patterns"] | {"token": "|".join(_SOURCE["token"])}
    patterns |= {"cache": CACHE.pattern, "quantisation": quantisation.pattern}
    return NamesTable(
        cards="\n".join(_cards()),
        forms=tuple(map(tuple, _SOURCE["forms"])),
        models="\n".join(_models()),
        keys=tuple(
            (kind, meant, " ".join(words.split()))
            for kind in _KINDS
            for meant, words in _SOURCE[kind].items()
        ),
        steps={
            step: tuple((_filled(pattern), to) for pattern, to in rows)
            for step, rows in _SOURCE["steps"].items()
        },
        patterns={name: _filled(pattern) for name, pattern in patterns.items()},
        units=_SOURCE["units"],
        classes=tuple((name, _filled(pattern)) for name, pattern in _SOURCE["classes"]),
        quantisations=tuple(label for label, _ in labels),
    )


def _filled(pattern: str) -> str:
    """The pattern with parts and lists of words in place of their names, as `@FAMILY`."""
    filled = re.sub("@([A-Z]+)", lambda name: f"(?:{_parts()[name[1]]})", pattern)
    return unicodedata.normalize("NFKD", filled)  # as the text


@cache
def _parts() -> dict[str, str]:
    families, names = _SOURCE["models"]["families"].split(), sorted(_name_words())
    tasks = {word for words in _SOURCE["task"].values() for word in words.split()}
    return {
        **_SOURCE["parts"],
        "FAMILY": "|".join(sorted(families, key=len, reverse=True)),
        "NAME": "|".join(names),
        "LETTER": "|".join(name for name in names if len(name) == 1),
        "TASK": "|".join(name for name in names if name in tasks),
        "TAG": _TAGS,
        "PROCESSOR": re.sub(r"\(\?<\w+>", "(?:", _SOURCE["token"][0]),
    }


def name_parts(slug: str) -> str:
    """The parts of a model's name in the order of the alphabet: `3 8b qwen` for `qwen3-8b-v1.0`."""
    return " ".join(sorted(replaced(_PARTS, slug).split("-")))


_PARTS = compiled(_SOURCE["steps"]["parts"])


@cache
def _slugs() -> tuple[str, ...]:
    """The slugs of the models in all tables."""
    rows = [*table("shapes.csv", _TEXT), *table("sizes.csv", _TEXT)]
    presets = [each["model"] for each in document("presets", "planner")["presets"]]
    slugs = {MODEL_SLUGS.get(row["name"], row["name"]) for row in rows}
    slugs |= {listed_slug(name) for name in (*document("listed", "planner")["models"], *presets)}
    return tuple(sorted(slugs.union(MODEL_SLUGS.values())))


def listed_slug(name: str) -> str:
    """The slug of a name in tables or headers, which has neither an owner nor a quantisation."""
    slug = "-".join(re.findall(r"[a-z0-9.]+", name.lower()))
    slug = model_name(replaced(_NUMBERED, MODEL_SLUGS.get(slug, slug))).lower()
    slug = replaced(_NUMBERED, _without_tags(slug))
    return MODEL_SLUGS.get(slug, slug)


def _without_tags(slug: str) -> str:
    words = re.findall(r"[a-z0-9.]+", slug)
    return "-".join(word for word in words if not re.fullmatch(_TAGS, word))


def _models() -> Iterator[str]:
    """The line of each known model. A shorter name of a mixture counts if only one model fits."""
    short: dict[str, set[str]] = {}
    for slug in _slugs():
        for left_out in _SHORT:
            short.setdefault(re.sub(left_out, "", slug), set()).add(slug)
    spelled = {name: min(slugs) for name, slugs in short.items() if len(slugs) == 1}
    named = {key: listed_slug(name) for key, name in MODEL_NAMES.items()} | dict(MODEL_SLUGS)
    spelled |= {_without_tags(key): slug for key, slug in named.items()}
    known = {name_parts(slug) for slug in _slugs()}
    lines = {slug: [slug] for slug in _slugs()}
    for name, slug in reversed(spelled.items()):  # later ones count
        if name_parts(name) not in known:
            known.add(name_parts(name))
            lines.setdefault(slug, [slug]).append(name)
    return (" ".join(words) for words in lines.values())


def _name_words() -> set[str]:
    words = {word for slug in _slugs() for word in slug.split("-") if word[0].isalpha()}
    sizes = {word for word in words if re.fullmatch(r"[ae]\d[\d.]*b", word)}
    return words - sizes | {*_SOURCE["models"]["variants"].split()}


def _cards() -> Iterator[str]:
    """The line of each card."""
    known, listed = devices(), _SOURCE["cards"]
    for key in known.names:
        maker = next((letter for letter, line in _MAKERS.items() if re.match(line, key)), "a")
        if key in known.sharing:
            maker = "g+" if maker == "a" else f"{maker}+"
        own = known.memory_gib.get(key) or known.usual_gib.get(key) or ""
        portable = "p" if maker.endswith("+") or re.search(_PORTABLE, key) else ""
        size = re.search(r"\b(\d+)gb\b", key)
        sizes = " ".join(map(str, (size[1] if size else 0, *_SOURCE["modified"].get(key, ()))))
        # The chip of a laptop under this name, if there is no card of this name.
        bare = key.removesuffix(" laptop")
        spelled = {*listed.get(key, "").split()}
        spelled |= set() if bare in known.names else spellings([bare], _SOURCE["forms"])
        spelled = {word for word in spelled if " " not in word} - spellings([key], _SOURCE["forms"])
        names = ",".join((key, *sorted(spelled)))
        yield "|".join((names, maker, str(own), portable, sizes)).removesuffix("|0").rstrip("|")


def spellings(names: Iterable[str], forms: Steps) -> set[str]:
    """The names, and every form of them; squeezed ones have no blanks."""
    found = {*names}
    for step in compiled(forms):
        found |= {replaced([step], name) for name in found}
    return found
