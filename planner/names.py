"""Read cards, machines, models and whole questions as people write them.

`read("2x3090 qwen3.6 27b q5 64k")` gives the machine, the model, its quantisation and the context.
A card is refused if a word beside its name makes it another card (`4090 ti`).
`site_src/assets/javascripts/names.js` is the same algorithm; the tests read one list with both.
"""

import difflib
import math
import re
from collections.abc import Iterator, Sequence
from functools import cache

import msgspec
from msgspec.structs import replace

from estimates.roofline import devices, normalised
from planner.model_names import find_quantisation, replaced
from planner.name_scan import CARDS, FOUND, STEPS, ListedCard, Token, scan
from planner.names_table import PRINTED

_NEAREST = 3
_SIZES = ("size", "main")


class NamedCard(msgspec.Struct, frozen=True, kw_only=True):
    """Equal cards: their name in the table, how many, and GiB per card if stated.

    The name is `None` for a card of which only the memory is known, as in `24 GB card`.
    """

    key: str | None
    count: int = 1
    gib: float | None = None


class _Spot(msgspec.Struct):
    """A name of cards in a text: the cards of the table that it may mean, a count, and sizes."""

    text: str
    cards: tuple[ListedCard, ...]
    count: int
    sizes: list[Token]

    def card(self, total: float) -> tuple[NamedCard | None, float | None]:
        """The card of this size, and main memory in GiB, given the sum of all cards' memories.

        A name that fits no card is one of unknown name if its size is stated. More than twice the
        memory of a card is neither a size of it nor of a changed one.
        """
        first = self.cards[0] if self.cards else None
        most = max(2 * (first.own or math.inf), total, *first.sizes) if first else math.inf
        sized = (x for x in self.sizes if x.kind == "size" and x.value <= most)
        shares = first is not None and first.shares
        own = next(iter(self.sizes) if shares else sized, None)
        gib = own.value if own else None
        other = (x.value for x in self.sizes if x is not own and not shares)
        ram = next((x for x in other if x not in (gib, (gib or 0) * self.count)), None)
        fits = [x for x in self.cards if x.sizes[0] == gib]
        fits += [x for x in self.cards if not (gib and x.sizes[0])]
        row = fits[0] if fits else None
        if row and gib == total and total > row.own > 0 and gib not in row.sizes:
            gib = None
        named = NamedCard(key=row.key if row else None, count=self.count, gib=gib)
        return (named if row or gib else None), ram


class NamedMachine(msgspec.Struct, frozen=True):
    """The machine that a text describes; `unknown` lists the parts that were not understood."""

    cards: tuple[NamedCard, ...] = ()
    ram_gib: float | None = None
    processor: str | None = None
    unknown: tuple[str, ...] = ()


class ModelRef(msgspec.Struct, frozen=True, kw_only=True):
    """The model that a text names, as `written`; without a known name, `slug` is made of its words.

    `quantisation` is spelled as in file names (`UD-Q4_K_XL`), `repository` is `owner/name`, and
    `parameters_b` is the number of parameters that the text states, in billions. `unknown` are the
    words that do not belong to the name.
    """

    slug: str
    quantisation: str | None = None
    repository: str | None = None
    parameters_b: float | None = None
    written: str = ""
    unknown: tuple[str, ...] = ()


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


@cache
def read_machine(text: str) -> NamedMachine:
    """The machine that a text describes; a text without any machine is not understood."""
    machine, strange = read(text).machine, " ".join(read(text).unknown)
    if machine == NamedMachine():
        return NamedMachine(unknown=(text,) if text.strip() else ())
    alone = not machine.unknown and {card.key for card in machine.cards} == {None}
    return replace(machine, unknown=(strange,)) if alone and strange else machine


@cache
def read_model(text: str) -> ModelRef:
    """The model that a text names, with the quantisation, repository and size in the text."""
    found, owned, quantised = scan(text), FOUND["repository"].search(text), find_quantisation(text)
    stated = FOUND["stated"].findall(found.slug)
    size = float(stated[0][0]) if len(stated) == 1 else None
    return ModelRef(
        slug=found.slug,
        quantisation=quantised[1] if quantised else None,
        repository=owned[1] if owned else None,
        parameters_b=size / 1000 if size and stated[0][1] == "m" else size,
        written=text,
        unknown=found.spare,
    )


@cache
def read(text: str) -> Named:
    """The parts of a question in one text."""
    found = scan(text)
    first = {token.kind: token for token in reversed(found.tokens)}
    meant = {kind: token.meant for kind, token in first.items()}
    return Named(
        machine=_machine(found.tokens),
        model=_model_in(text) if found.named else None,
        engine=meant.get("engine"),
        context_tokens=int(first["context"].value) if "context" in first else None,
        task=meant.get("task"),
        unknown=tuple(x.text for x in found.tokens if x.kind in ("chip", "word", "variant")),
    )


def _model_in(text: str) -> ModelRef:
    """The model that a sentence names, written without the rest of the sentence."""
    model = read_model(text)
    owned = model.repository if scan(model.repository or "").named else None
    written = ":".join(filter(None, (owned or model.slug, model.quantisation)))
    return replace(model, repository=owned, written=written)


def card_key(label: str) -> str | None:
    """The name in `devices.json` of the only card in a label; `None` for no card or several."""
    keys = {card.key for card in read_machine(label).cards}
    return keys.pop() if len(keys) == 1 else None


def card_label(key: str) -> str:
    """A table name in its usual spelling: `rtx 4070 ti super` becomes `RTX 4070 Ti SUPER`."""
    words = ("radeon " * bool(re.fullmatch(r"\d{3}m|\d{4}s|vega \d+", key)) + key).split()
    return " ".join(
        PRINTED.get(word)
        or (word.upper() if re.search(r"\d|^.{1,3}$", word) else word.capitalize())
        for word in words
    )


@cache
def size_in(name: str) -> float | None:
    """The first size in a name, in GiB."""
    return next((each.value for each in scan(name).tokens if each.kind in _SIZES), None)


def nearest_cards(text: str) -> tuple[str, ...]:
    """The names in the table that are most similar to a text, at most three."""
    plain = normalised(" ".join(x.text for x in scan(text).tokens if x.kind not in _SIZES))
    begun = [name for name in devices().names if name.startswith(plain)]
    near = difflib.get_close_matches(plain, devices().names, n=_NEAREST, cutoff=0.4)
    return tuple(begun or near)[:_NEAREST]


def _machine(tokens: Sequence[Token]) -> NamedMachine:
    """The machine of a text's tokens; what makes a card another one is in `unknown`."""
    spots, first = [*_spots(tokens)], {token.kind: token for token in reversed(tokens)}
    total = sum(spot.cards[0].own * spot.count for spot in spots if spot.cards)
    named = [spot.card(total) for spot in spots]
    unknown = [x.text for x, (card, _) in zip(spots, named, strict=True) if not (card and card.key)]
    cards = [card for card, _ in named if card]
    loose = None if spots else first.get("main", first.get("size"))
    ram = next((more for _, more in named if more), loose.value if loose else None)
    shared = cards and all(card.key in devices().sharing for card in cards)
    return NamedMachine(
        cards=tuple(cards),
        ram_gib=None if shared else ram,
        processor=first["processor"].text if "processor" in first else None,
        unknown=tuple(filter(None, unknown)),
    )


def _spots(tokens: Sequence[Token]) -> Iterator[_Spot]:
    """The names of cards in a text, by replacements in the marks of all tokens.

    On a laptop a card is the laptop's chip of the same name.
    """
    marks = "".join(f"{token.kind}{at}:{token.meant} " for at, token in enumerate(tokens))
    laptop, chips = [x for x in tokens if x.kind == "laptop"][:1], {x.key: x for x in CARDS}
    for kind, places, rest in FOUND["spot"].findall(replaced(STEPS["cards"], marks)):
        named = [tokens[int(at)] for at in re.findall(r"\d+", places)]
        cards = named[0].cards if kind == "card" else ()
        if laptop:
            own = (chips.get(f"{x.key} laptop", x) for x in cards)
            cards = tuple(x for x in own if x.portable)
        parts = [
            [tokens[int(at)] for at in re.findall(r"(?:times|size|main)(\d+)", part)]
            for part in rest.split("plus")
        ]
        counts = (max([1, *(int(x.value) for x in part if x.kind not in _SIZES)]) for part in parts)
        yield _Spot(
            text=" ".join(x.text for x in [*named, *(laptop if kind == "card" else ())]),
            cards=cards,
            count=sum(counts),
            sizes=[x for part in parts for x in part if x.kind in _SIZES],
        )
