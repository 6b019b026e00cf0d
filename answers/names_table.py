"""Compile the table of names: the spellings of cards, models, quantisations and engines, as data.

The readers in `answers/names.py` and `site_src/assets/javascripts/names.js` share this table and no
other knowledge. Every fact has one home: `schemas/devices.json`, `spellings.toml`, `aliases.toml`
and `quantisations.csv`.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache

import msgspec
from msgspec import structs

from answers.model_names import CACHE, compiled, quantisations, replaced, table
from estimates.roofline import devices
from schemas.vocabulary import MODEL_NAMES, MODEL_SLUGS, model_name
from schemas.vocabulary.documents import document

_SOURCE = document("spellings")
PRINTED: Mapping[str, str] = _SOURCE["printed"]
# Words that do not affect which weights are meant: the usual tuning, the kind of file, the month of
# a release.
_TAGS = "|".join((*_SOURCE["models"]["tags"].split(), r"2[3-9](?:0[1-9]|1[0-2])|[01]\d[0-3]\d"))
# The number of a family; the first step of slugs is for typed names.
_NUMBERED = compiled(_SOURCE["steps"]["slug"][1:])
_MAKERS = {
    "n": r"[rg]tx|titan|tesla|quadro|jetson|cmp|p102|gb\d|orin|[tlahb]\d",
    "i": "arc|iris",
    "m": "apple",
}
_SIZE = re.compile(r"\b(\d+)gb\b")
_TEXT = ("name", "match", "architecture", "source")


class ListedCard(msgspec.Struct, frozen=True, array_like=True):
    """A card of the table: its maker's letter, its memory in GiB, and whether it shares memory.

    `own` is the usual size. `sizes` are the size in its name (0 if there is none) and those after a
    change. `laptop` is the index of the laptop's chip of this name, -1 if there is none.
    """

    key: str
    maker: str
    own: int
    sizes: tuple[int, ...]
    shares: bool
    laptop: int


class NamesTable(msgspec.Struct, frozen=True, kw_only=True):
    """All that a reader knows.

    `keys` gives a kind and its meaning for each squeezed spelling: `card 12 13` (rows of `cards`),
    `count 2`, `laptop`, `engine vllm`, `task code`, `maker n`, `variant na` (a word that makes a
    card of these makers another one), `noise`. `steps` are replacements in a text, in order, and
    `classes` the kinds of words in a model's name. `models` gives the slug of a known model for the
    parts of its name in the order of the alphabet.
    """

    cards: tuple[ListedCard, ...]
    keys: Mapping[str, str]
    steps: Mapping[str, tuple[tuple[str, str], ...]]
    patterns: Mapping[str, str]
    units: Mapping[str, float]
    classes: tuple[tuple[str, str], ...]
    models: Mapping[str, str]
    quantisations: tuple[str, ...]


@cache
def names_table() -> NamesTable:
    """The table, compiled once."""
    token = "|".join(_SOURCE["token"])
    labels, quantisation = quantisations()
    patterns = _SOURCE["patterns"] | {"token": token, "cache": CACHE.pattern}
    patterns |= {"quantisation": quantisation.pattern, "plural": f"^(?:{_SOURCE['plural']})$"}
    return NamesTable(
        cards=tuple(_cards()),
        keys=_keys(),
        steps={
            step: tuple((_filled(pattern), to) for pattern, to in rows)
            for step, rows in _SOURCE["steps"].items()
        },
        patterns={name: _filled(pattern) for name, pattern in patterns.items()},
        units=_SOURCE["units"],
        classes=tuple((name, _filled(pattern)) for name, pattern in _SOURCE["classes"]),
        models=_models(),
        quantisations=tuple(label for label, _ in labels),
    )


@cache
def packed() -> Mapping[str, object]:
    """The table as pages load it: the spellings of each card, and of each other meaning.

    A card's spellings are those besides its name and its plurals, squeezed and without its size.
    Models have the parts of their names only where the page does not find them in the slugs, and
    the page finds the laptop's chip by its name.
    """
    table = names_table()
    cards: list[list[str]] = [[] for _ in table.cards]
    others: dict[str, list[str]] = {}
    for word, meant in table.keys.items():
        kind, *rows = meant.split(" ")
        if kind == "card" and _is_plural(word, table):
            continue
        lists = (
            [cards[int(row)] for row in rows] if kind == "card" else [others.setdefault(meant, [])]
        )
        for each in lists:
            each.append(word)
    keys = {meant: " ".join(words) for meant, words in others.items()}
    own = [re.sub(r"\b\d+gb\b|[^a-z0-9.]", "", card.key) for card in table.cards]
    spelled = [
        " ".join(word for word in words if word != name)
        for name, words in zip(own, cards, strict=True)
    ]
    known = _short_models() | {name_parts(slug): slug for slug in _slugs()}
    models = {parts: slug for parts, slug in table.models.items() if known.get(parts) != slug}
    own_models = {"slugs": " ".join(_slugs()), "models": models}
    listed = [structs.astuple(card)[:-1] for card in table.cards]
    return {
        **structs.asdict(table),
        "cards": listed,
        "keys": keys,
        "spelled": spelled,
        **own_models,
    }


def _is_plural(word: str, table: NamesTable) -> bool:
    """Whether a spelling is that of a card with an s, which the page adds itself."""
    one = word.removesuffix("s")
    same = one != word and table.keys.get(one) == table.keys[word]
    return same and re.fullmatch(_SOURCE["plural"], one) is not None


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


def _keys() -> dict[str, str]:
    """The kind and meaning of each spelling; of several, the first in the order of kinds."""
    found = {word: f"card {meant}" for word, meant in _card_keys().items()}
    for kind in ("count", "laptop", "engine", "task", "maker", "variant", "noise"):
        for meant, words in _SOURCE[kind].items():
            for word in words.split():
                found.setdefault(word, f"{kind} {meant}".strip())
    return found


def name_parts(slug: str) -> str:
    """The parts of a model's name in the order of the alphabet: `3 8b qwen` for `qwen3-8b`."""
    return " ".join(sorted(re.sub(r"\b([a-z]{3,})v?(?=\d)", r"\1-", slug).split("-")))


@cache
def _slugs() -> tuple[str, ...]:
    """The slugs of the models in all tables."""
    rows = [*table("shapes.csv", _TEXT), *table("sizes.csv", _TEXT)]
    presets = [each["model"] for each in document("presets", "answers")["presets"]]
    slugs = {MODEL_SLUGS.get(row["name"], row["name"]) for row in rows}
    slugs |= {listed_slug(name) for name in (*document("listed", "answers")["models"], *presets)}
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


def _short_models() -> dict[str, str]:
    """Mixtures without their total or their active size, if one model fits."""
    short: dict[str, set[str]] = {}
    for slug in _slugs():
        for left_out in (r"-a\d[\d.]*b(?=-|$)", r"-\d[\d.]*b(?=-a\d)"):
            short.setdefault(name_parts(re.sub(left_out, "", slug)), set()).add(slug)
    return {parts: slugs.pop() for parts, slugs in short.items() if len(slugs) == 1}


def _models() -> dict[str, str]:
    """Known models by the parts of their names, the mixtures also by shorter names."""
    found = _short_models()
    named = {key: listed_slug(name) for key, name in MODEL_NAMES.items()} | dict(MODEL_SLUGS)
    found |= {name_parts(_without_tags(key)): slug for key, slug in named.items()}
    return found | {name_parts(slug): slug for slug in _slugs()}


def _name_words() -> set[str]:
    words = {word for slug in _slugs() for word in slug.split("-") if word[0].isalpha()}
    sizes = {word for word in words if re.fullmatch(r"[ae]\d[\d.]*b", word)}
    return words - sizes | {*_SOURCE["models"]["variants"].split()}


def _cards() -> Iterator[ListedCard]:
    table = devices()
    for key in table.names:
        size = _SIZE.search(key)
        laptop = f"{key} laptop"
        maker = next((letter for letter, line in _MAKERS.items() if re.match(line, key)), "a")
        maker = "g" if maker == "a" and key in table.sharing else maker
        own = key in table.sharing or maker == "m" or re.search(r"laptop|[0-9]m\b", key)
        yield ListedCard(
            key=key,
            maker=maker,
            own=table.memory_gib.get(key) or table.usual_gib.get(key, 0),
            sizes=(int(size[1]) if size else 0, *_SOURCE["modified"].get(key, ())),
            shares=key in table.sharing,
            laptop=table.names.index(laptop if laptop in table.names else key)
            if laptop in table.names or own
            else -1,
        )


def _card_keys() -> dict[str, str]:
    """Squeezed spellings of all cards; of several cards, the indices in the order of the table.

    A spelling that `spellings.toml` lists for a card is that card's alone.
    """
    listed: dict[str, list[int]] = {}
    for key, text in _SOURCE["cards"].items():
        for word in text.split():
            listed.setdefault(word, []).append(devices().names.index(key))
    found: dict[str, list[int]] = {}
    for at, key in enumerate(devices().names):
        for word in _spellings(key):
            found.setdefault(word, []).append(at)
    found |= listed
    for word in [each for each in found if re.fullmatch(_SOURCE["plural"], each)]:
        found.setdefault(f"{word}s", found[word])  # "two 3090s"
    return {word: " ".join(map(str, rows)) for word, rows in sorted(found.items())}


def _spellings(key: str) -> set[str]:
    """The usual spellings of a name in the table, squeezed; of a laptop's card of two, its own."""
    name = " ".join(_SIZE.sub(" ", key).split())
    bare = name.removesuffix(" laptop")
    forms = {name, bare} if bare == name or bare not in devices().names else set()
    for pattern, to in _SOURCE["forms"]:
        forms |= {re.sub(pattern, to, form) for form in forms}
    return {re.sub(r"[^a-z0-9.]+", "", form) for form in (name, *forms)}
