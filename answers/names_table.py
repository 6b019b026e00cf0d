"""Compile the table of names: the spellings of cards, models, quantisations and engines, as data.

The readers in `answers/names.py` and `site_src/assets/javascripts/names.js` share this table and no
other knowledge. Every fact has one home: `schemas/devices.json`, `spellings.toml`, `aliases.toml`
and `quantisations.csv`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache

import msgspec

from answers.model_names import BITS, GENERATION, TAGS, model_key, patterns, table
from estimates.roofline import devices
from schemas.vocabulary import MODEL_GENERATIONS, MODEL_NAMES, MODEL_SLUGS
from schemas.vocabulary.documents import document

_SOURCE = document("spellings")
_MAKERS = {
    "n": r"[rg]tx|titan|tesla|quadro|jetson|cmp|p102|gb\d|orin|[tlahb]\d",
    "i": "arc|iris",
    "m": "apple",
}
_SIZE = re.compile(r"\b(\d+)gb\b")
_OPTIONAL = re.compile(r" (?:generation|edition|hbm\d\w?|blackwell|pcie|sxm\d)\b")
_LINES = re.compile(r"^(?:[rg]tx|rx|tesla|instinct|arc|quadro|apple|cmp) ")
# What is distinctive without the name of its line: four digits of a GeForce or Radeon, a letter
# with digits, a chip of Apple.
_DISTINCT = re.compile(
    r"(?:1[06]|20|30|40|50)\d0(?: .*)?|\d{3}0 (?:ti|xt|xtx|gre|super).*|[5679][0-9]\d0m?(?: .*)?"
    r"|980 ti|[a-z]{1,2}\d{2,4}\w?(?: .*)?|m\d.*|[tl]4|pro [a-z]\d.*|vega .*|\d+hx|\d000 ada"
)


class ListedCard(msgspec.Struct, frozen=True, array_like=True):
    """A card of the table: its maker's letter, its sizes in GiB, and whether it shares memory.

    `own` is the usual size, `named` the size in its name, `changed` are sizes
    after a change. `laptop` is the index of the laptop's chip of this name; -1 if there is none.
    """

    key: str
    maker: str
    own: int
    named: int
    changed: tuple[int, ...]
    shares: bool
    laptop: int


class NamesTable(msgspec.Struct, frozen=True, kw_only=True):
    """All that a reader knows. `keys` gives a kind and a meaning for each squeezed spelling.

    The kinds: `c` cards (indices), `n` noise, `l` laptop, `e` engine, `t` task, `#` a count, and
    `k` a maker. `steps` are replacements in a text, in order. `variants` are words that make a name
    beside them another card's. `models` gives the slug of a known model for the parts of its name
    in the order of the alphabet; `name_words` are the words by which models differ.
    """

    cards: tuple[ListedCard, ...]
    keys: Mapping[str, Mapping[str, str]]
    variants: Mapping[str, tuple[str, ...]]
    steps: Mapping[str, tuple[tuple[str, str], ...]]
    patterns: Mapping[str, str]
    printed: Mapping[str, str]
    generations: Mapping[str, str]
    slugs: Mapping[str, str]
    models: Mapping[str, str]
    name_words: tuple[str, ...]
    names: Mapping[str, str]
    quantisations: tuple[tuple[str, str], ...]


def squeezed(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "", name.lower())


@cache
def names_table() -> NamesTable:
    """The table, compiled once."""
    words = {kind: _SOURCE[kind] for kind in ("engines", "tasks", "makers", "counts")}
    return NamesTable(
        cards=tuple(_cards()),
        keys={
            "n": dict.fromkeys(_SOURCE["noise"].split(), ""),
            "l": dict.fromkeys(_SOURCE["laptop"].split(), ""),
            "k": _meaning(words["makers"]),
            "#": _meaning(words["counts"]),
            "t": _meaning(words["tasks"]),
            "e": _meaning(words["engines"]),
            "c": _card_keys(),
        },
        variants={maker: tuple(text.split()) for maker, text in _SOURCE["variants"].items()},
        steps=msgspec.convert(_SOURCE["steps"], dict[str, tuple[tuple[str, str], ...]]),
        patterns={**_SOURCE["patterns"], **_model_patterns()},
        printed=_SOURCE["printed"],
        generations=MODEL_GENERATIONS,
        slugs=MODEL_SLUGS,
        models=_models(),
        name_words=tuple(sorted(_name_words())),
        names={key: name.lower() for key, name in MODEL_NAMES.items() if key != name.lower()},
        quantisations=tuple((bits.name, pattern.pattern) for pattern, bits in patterns()),
    )


def name_parts(slug: str) -> str:
    """The parts of a model's name in the order of the alphabet: `3 8b qwen` for `qwen3-8b`."""
    return " ".join(sorted(re.sub(r"\b([a-z]{3,})v?(?=\d)", r"\1-", slug).split("-")))


@cache
def _slugs() -> frozenset[str]:
    """The slugs of the models in all tables."""
    rows = [
        *table("shapes.csv", ("name", "match", "architecture")),
        *table("sizes.csv", ("name", "match", "source")),
    ]
    listed = document("listed", "answers")["models"]
    presets = [each["model"] for each in document("presets", "answers")["presets"]]
    names = [*(row["name"] for row in rows), *listed, *presets]
    return frozenset((*map(model_key, names), *MODEL_SLUGS.values()))


def _models() -> dict[str, str]:
    """Known models; a mixture also without its total or its active size, if one model fits."""
    short: dict[str, set[str]] = {}
    for slug in sorted(_slugs()):
        for left_out in (r"-a\d[\d.]*b(?=-|$)", r"-\d[\d.]*b(?=-a\d)"):
            short.setdefault(name_parts(re.sub(left_out, "", slug)), set()).add(slug)
    alone = {parts: slugs.pop() for parts, slugs in sorted(short.items()) if len(slugs) == 1}
    return alone | {name_parts(slug): slug for slug in sorted(_slugs())}


def _name_words() -> set[str]:
    words = {word for slug in _slugs() for word in slug.split("-") if word[0].isalpha()}
    sizes = re.compile(r"[ae]\d[\d.]*b")
    return {word for word in words if not sizes.fullmatch(word)} | set(
        _SOURCE["models"]["variants"].split()
    )


def _model_patterns() -> dict[str, str]:
    """The patterns of models' names, which are made of lists of words."""
    families = "|".join(sorted(_SOURCE["models"]["families"].split(), key=len, reverse=True))
    return {
        "family": rf"(?:{families})(?:v?\d[\d.x]*)?(?:n|vl)?",
        "tag": TAGS,
        "bits": BITS.pattern,
        "generation": GENERATION.pattern,
    }


def _meaning(words: Mapping[str, str]) -> dict[str, str]:
    return {word: meant for meant, text in words.items() for word in text.split()}


def _cards() -> Iterator[ListedCard]:
    table = devices()
    for key in table.names:
        size = _SIZE.search(key)
        laptop = f"{key} laptop"
        yield ListedCard(
            key=key,
            maker=next((letter for letter, line in _MAKERS.items() if re.match(line, key)), "a"),
            own=table.memory_gib.get(key) or table.usual_gib.get(key, 0),
            named=int(size[1]) if size else 0,
            changed=tuple(_SOURCE["modified"].get(key, ())),
            shares=key in table.sharing,
            laptop=table.names.index(laptop) if laptop in table.names else -1,
        )


def _card_keys() -> dict[str, str]:
    """Squeezed spellings of all cards; of several cards, the indices in the order of the table.

    A spelling that `spellings.toml` lists for a card is that card's alone.
    """
    listed: dict[str, list[str]] = {}
    for key, text in _SOURCE["cards"].items():
        for word in text.split():
            listed.setdefault(word, []).append(key)
    found = dict(listed)
    for key in devices().names:
        for word in _spellings(key):
            if word not in listed and key not in found.setdefault(word, []):
                found[word].append(key)
    order = {key: at for at, key in enumerate(devices().names)}
    return {word: " ".join(str(order[key]) for key in keys) for word, keys in found.items()}


def _spellings(key: str) -> Iterator[str]:
    """The usual spellings of a name in the table, squeezed; none for a laptop's card of two."""
    whole = " ".join(_SIZE.sub(" ", key).split())
    bare = whole.removesuffix(" laptop")
    if bare != whole and bare in devices().names:
        return
    for name in dict.fromkeys((bare, _OPTIONAL.sub("", bare))):
        for form in _forms(name):
            yield squeezed(form)
            for end, short in ((" super", "s"), (" ti super", "superti"), ("ada", "adageneration")):
                if form.endswith(end):
                    yield squeezed(form.removesuffix(end)) + short


def _forms(name: str) -> Iterator[str]:
    """A name with the line's name in its place, another line's, or none where none is needed."""
    yield name
    line = _LINES.match(name)
    rest = name[line.end() :] if line else name
    if line and line[0] in ("rtx ", "gtx "):
        yield f"rtx {rest}"
        yield f"gtx {rest}"
    if line and _DISTINCT.fullmatch(rest):
        yield rest
    if re.match(r"pro [a-z]\d", rest):
        yield rest.removeprefix("pro ")
