"""Read cards and machines as people write them: `dual 3090`, `RTX 3060 12GB + Ryzen 7950X`."""

import difflib
import re
import unicodedata
from collections.abc import Iterable
from functools import cache

import msgspec
from msgspec.structs import replace

from answers.model_names import find_quantisation, model_key
from estimates.roofline import devices, normalised
from schemas.vocabulary import SPELLINGS
from schemas.vocabulary.documents import document

_NEAREST = 3


class NamedCard(msgspec.Struct, frozen=True, kw_only=True):
    """Equal cards: their name in the table, how many, and GiB per card if stated.

    The name is `None` for a card of which only the memory is known, as in `24 GB card`.
    """

    key: str | None
    count: int = 1
    gib: float | None = None


class NamedMachine(msgspec.Struct, frozen=True):
    """The machine that a text describes; `unknown` lists the parts that were not understood."""

    cards: tuple[NamedCard, ...] = ()
    ram_gib: float | None = None
    processor: str | None = None
    unknown: tuple[str, ...] = ()


class ModelRef(msgspec.Struct, frozen=True, kw_only=True):
    """The model that a text names, as `written`; without a known name, `slug` is made of its words.

    `quantisation` is spelled as in file names (`UD-Q4_K_XL`), `repository` is `owner/name`, and
    `parameters_b` is the number of parameters that the text states, in billions.
    """

    slug: str
    quantisation: str | None = None
    repository: str | None = None
    parameters_b: float | None = None
    written: str = ""


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a question in one text: `2x3090 qwen3.6 27b q5 64k vllm`.

    `engine` and `task` are identifiers of the vocabulary, `unknown` are the words that no part
    explains.
    """

    machine: NamedMachine
    model: ModelRef | None = None
    engine: str | None = None
    context_tokens: int | None = None
    task: str | None = None
    unknown: tuple[str, ...] = ()


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_TABLES = document("names", "answers")
_GB = {unit: factor for unit, factor in SPELLINGS.memory_units.items() if factor >= 1}
_LISTS = {name: getattr(SPELLINGS, name) for name in ("families", "variants", "system_words")}
_LISTS |= {"processor_words": SPELLINGS.processor_words, "gigabytes": tuple(_GB)}
_FOUND = {
    name: re.compile(re.sub("<(\\w+)>", lambda x: _any_of(_LISTS[x[1]]), pattern), re.VERBOSE)
    for name, pattern in _TABLES["patterns"].items()
}
_LONGEST = 200  # the patterns match names on a single line
_SIZE, _COUNT = _FOUND["size"], _FOUND["count"]
_MEANS = {key.replace("-", " "): means for key, means in SPELLINGS.phrases.items()}
_PHRASES = re.compile(rf"(?<![a-z0-9])(?:{_any_of(_MEANS)})(?![a-z0-9])".replace(r"\ ", " ?"))
_JOINED = {key.replace(" ", ""): means for key, means in _MEANS.items()}
_SOFT = frozenset(_TABLES["words"]["soft"])
_FAMILIES = frozenset(SPELLINGS.families) - {*_TABLES["words"]["telling"]}
_NAMELESS = frozenset((*SPELLINGS.makers, *_TABLES["words"]["nameless"]))


def read_machine(text: str) -> NamedMachine:
    """The machine that a text describes: its cards, its main memory, its processor."""
    return machine_named(text)


@cache
def read_model(text: str) -> ModelRef:
    """The model that a text names, with the quantisation, repository and size in the text."""
    found = find_quantisation(text)
    written = re.sub(r"[\s_-]+", "_", found[1].upper()) if found else ""
    bits = found[0].name.removeprefix("UD_") if found else None
    owned = re.fullmatch(r"(?:(?:hf|huggingface)\.co/)?([\w.-]+/[\w.-]+)(?::\S*)?", text.strip())
    size = re.search(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)b(?![a-z0-9])", text.lower())
    return ModelRef(
        slug=model_key(text),
        quantisation=f"UD-{bits}" if bits and written == f"UD_{bits}" else bits,
        repository=owned[1] if owned else None,
        parameters_b=float(size[1]) if size else None,
        written=text,
    )


def read(text: str) -> Named:
    """The parts of a question in one text."""
    return Named(machine=read_machine(text), unknown=(text,) if text.strip() else ())


@cache
def machine_named(text: str) -> NamedMachine:
    """The machine that a text describes: its cards, its main memory, its processor."""
    text = text[:_LONGEST]
    plain = _plain(text)
    bare = _FOUND["after_chip"].sub(r"\1", _FOUND["in_brackets"].sub(r" \1 ", plain))
    outside = re.sub(r"\([^)]*\)", " ", bare)
    if _FOUND["placeholder"].fullmatch(text.lower()) or _FOUND["no_card"].search(outside):
        return NamedMachine(unknown=(text,))
    found = _read(outside)
    return found if found.cards or found.processor else _read(re.sub("[()]", " ", bare))


def cards_named(text: str) -> tuple[str, int] | None:
    """The only card named in a text, and how many of it; `None` for no card or different cards."""
    cards = machine_named(text).cards
    if len({card.key for card in cards}) != 1:
        return None
    return cards[0].key, sum(card.count for card in cards)


def card_key(label: str) -> str | None:
    """The name in `devices.json` of the only card in a label; `None` for no card or several."""
    found = cards_named(label)
    return found[0] if found else None


@cache
def is_placeholder(name: str) -> bool:
    """Whether a name that a driver or bus reports is a placeholder, such as `AMD Device 7551`."""
    plain = re.sub(r"\((?:r|tm|c)\)|[®™]", " ", name[:_LONGEST].lower())
    words = re.findall(r"[a-z0-9]+", re.sub(r"\([^)]*\)", " ", plain))
    return bool(_FOUND["placeholder"].fullmatch(plain)) or _NAMELESS.issuperset(words)


def card_label(key: str) -> str:
    """A table name in its usual spelling: `rtx 4070 ti super` becomes `RTX 4070 Ti SUPER`."""
    words = ("radeon " * bool(re.fullmatch(r"\d{3}m|\d{4}s|vega \d+", key)) + key).split()
    return " ".join(
        _TABLES["printed"].get(word)
        or (word.upper() if re.search(r"\d|^.{1,3}$", word) else word.capitalize())
        for word in words
    )


def nearest_cards(text: str) -> tuple[str, ...]:
    """The names in the table that are most similar to a text, at most three."""
    plain = _SIZE.sub(" ", _COUNT.sub(" ", _plain(text)))
    asked = _words(plain, _vocabulary())
    holding = [name for name, words in _known().items() if asked and asked <= words]
    begun = [name for name in _known() if name.startswith(plain.strip())]
    near = difflib.get_close_matches(normalised(plain), [*_known()], n=_NEAREST, cutoff=0.4)
    return tuple(begun or holding or near)[:_NEAREST]


def _plain(text: str) -> str:
    """The text in lower case, without accents and trademark signs, in the usual spelling."""
    text = re.sub(r"[®™]|\((?:R|TM|C)\)", " ", text, flags=re.IGNORECASE)
    plain = unicodedata.normalize("NFKD", text.replace("\N{MULTIPLICATION SIGN}", "x ")).lower()
    plain = re.sub(r"[\u0300-\u036f]", "", plain)
    plain = re.sub(r"[\s\-\u2010-\u2015_/]+", " ", plain)
    plain = _PHRASES.sub(lambda found: _JOINED[found[0].replace(" ", "")], plain)
    return re.sub(r"[a-z]+", lambda word: SPELLINGS.words.get(word[0], word[0]), plain)


def _read(plain: str) -> NamedMachine:
    """Read the parts of a text; a size without a card belongs to the card before it."""
    cards: list[NamedCard] = []
    alone: list[tuple[int, float]] = []  # the previous card, and a size
    unknown: list[str] = []
    ram = processor = None
    for part in _FOUND["parts"].split(plain):
        found = [(_gib(size), bool(size[1] or size[4])) for size in _SIZE.finditer(part)]
        ram = next((gib for gib, is_ram in found if is_ram), ram)
        own = [gib for gib, is_ram in found if not is_ram]
        rest = _FOUND["beside"].sub(" ", _SIZE.sub(" ", part)).strip()
        if not own and (bare := _FOUND["bare_size"].search(rest)):
            own, rest = [float(bare[1])], rest[: bare.start(1)]
        named = _FOUND["processor"].search(rest)
        rest = _FOUND["processor"].sub(" ", rest)
        count = _COUNT.search(rest)
        words = _words(_COUNT.sub(" ", rest), _vocabulary())
        key, graphics = _card(words, own), _FOUND["graphics"].search(rest)
        processor = named[0].strip() if named else processor
        if key is not None:
            times = int(next(filter(None, count.groups()))) if count else 1
            cards.append(NamedCard(key=key, count=times, gib=own[0] if own else None))
        elif not graphics and _FOUND["processor_word"].search(rest):
            processor = processor or "cpu"
        elif not named and (words or (graphics and not own)):
            unknown.append(part.strip())
        elif named and own:
            ram = ram or own[0]
        elif own:
            alone.append((max(0, len(cards) - 1), own[0]))
    return NamedMachine(_each(cards, alone), ram, processor, tuple(unknown))


def _gib(size: re.Match[str]) -> float:
    return float(size[2].replace(",", ".")) * _GB[size[3]]


def _each(cards: list[NamedCard], alone: list[tuple[int, float]]) -> tuple[NamedCard, ...]:
    """Assign sizes to cards; a final size may be the total of all cards, as in `2 x 3090 48 GB`."""
    for at, gib in alone:
        if cards and cards[at].gib is None:
            cards[at] = replace(cards[at], gib=gib)
    sizes = [devices().memory_gib.get(card.key, 0) * card.count for card in cards]
    together = sum(card.count for card in cards) > 1 and all(sizes)
    if together and cards[-1].gib == sum(sizes):
        cards[-1] = replace(cards[-1], gib=None)
    return tuple(cards)


def _card(asked: frozenset[str], sizes: list[float]) -> str | None:
    """The best match in the table: the card with the fewest missing and surplus words."""
    best: tuple[int, str] | None = None
    for name, words in _known().items():
        missing, more = words - asked, asked - words
        if not words & asked or not missing <= _SOFT:
            continue
        # A "GTX 860M" is different from a Radeon 860M.
        if "rtx" in more or not all(word in _SOFT or len(word) == 1 for word in more):
            continue
        in_name = size_in(name)
        if in_name and sizes and in_name not in sizes:
            continue
        cost = len(missing) + len(more) - bool(in_name and sizes)
        if best is None or cost < best[0]:
            best = cost, name
    return best[1] if best else None


@cache
def size_in(name: str) -> float | None:
    """The first size in a name, in GiB."""
    found = _SIZE.search(name.lower())
    return _gib(found) if found else None


def _words(plain: str, vocabulary: frozenset[str] = frozenset()) -> frozenset[str]:
    """The words that distinguish cards: words in the table, and words that look like chip names."""
    found: list[str] = []
    for word in re.findall(r"[a-z0-9.]+", plain.replace("max q", "maxq")):
        glued = _FOUND["glued"].fullmatch(word) if word not in vocabulary else None
        parts = (
            [glued[2], *_FOUND["variant"].findall(glued[3])]
            if glued
            else [word.replace("gtx", "rtx")]
        )
        found += ["rtx"] if glued and "tx" in glued[1] else []
        for part in " ".join(SPELLINGS.words.get(each, each) for each in parts).split():
            joined = f"{found[-1]}{part}" if found else part
            if joined in vocabulary and part not in vocabulary:  # "mi 50"
                found[-1] = joined
            else:
                found += _as_named(part, vocabulary)
    numbers = [] if "vega" in found else [x for x in found if re.fullmatch(r"\d\d?", x)]
    # "Ultra" also names boards; among chips, only Apple's use it.
    boards = () if any(re.fullmatch(r"m\d", x) for x in found) else ("ultra",)
    names = [x for x in found if x not in (*SPELLINGS.makers, *numbers, *boards)]
    if vocabulary:
        names = [x for x in names if x in vocabulary or _FOUND["chip"].fullmatch(x)]
    return frozenset(x for x in names if x not in _FAMILIES) or frozenset(names)


def _as_named(word: str, vocabulary: frozenset[str]) -> list[str]:
    """A word in the table's spelling: `4080s` gives `4080 super`, `p40s` gives `p40`."""
    if word in vocabulary or not vocabulary:
        return [word]
    if re.fullmatch(r"\d{4}m", word):
        return [word[:-1], "laptop"]
    if re.fullmatch(r"\d{4}s", word) and {word[:-1], "super", "rtx"} in _known().values():
        return [word[:-1], "super"]
    others = (word.removesuffix("s"), f"{word}x", f"r{word}")
    return [next((other for other in others if other in vocabulary), word)]


@cache
def _vocabulary() -> frozenset[str]:
    return frozenset().union(*_known().values(), SPELLINGS.families)


@cache
def _known() -> dict[str, frozenset[str]]:
    return {name: _words(_SIZE.sub(" ", _plain(name))) for name in devices().names}
