"""Read cards, machines, models and whole questions as people write them.

`read("2x3090 qwen3.6 27b q5 64k")` gives the machine, the model, its quantisation and the context.
A card is refused if a word beside its name makes it another card (`4090 ti`).
`site_src/assets/javascripts/names.js` is the same algorithm; the tests read one list with both.
"""

import difflib
import math
import re
from collections.abc import Sequence
from functools import cache

import msgspec
from msgspec.structs import replace

from answers.model_names import find_quantisation
from answers.name_scan import FOUND, TABLE, Token, named_tokens, scan
from answers.names_table import PRINTED, ListedCard
from estimates.roofline import devices, normalised

_NEAREST = 3
_SIZES = ("size", "main")
_LEFT = {"word", "variant", "maker"}  # what nothing explains
_STATED = re.compile(r"(?:^|-)e?(\d+(?:\.\d+)?)([bm])(?=-|$)")


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
    meant: tuple[str, ...]
    cards: list[ListedCard]
    count: int
    sizes: list[Token]
    shares: bool  # main memory

    def card(self, total: float) -> tuple[NamedCard | None, float | None]:
        """The card of this size, and main memory in GiB, given the sum of all cards' memories.

        A name that fits no card is one of unknown name if its size is stated. More than twice the
        memory of a card is neither a size of it nor of a changed one.
        """
        first = self.cards[0] if self.cards else None
        most = max(2 * (first.own or math.inf), total, *first.sizes) if first else math.inf
        sized = (x for x in self.sizes if x.kind == "size" and x.value <= most)
        own = next(iter(self.sizes) if self.shares else sized, None)
        gib = own.value if own else None
        other = (x.value for x in self.sizes if x is not own and not self.shares)
        ram = next((x for x in other if x not in (gib, (gib or 0) * self.count)), None)
        fits = [x for x in self.cards if not (gib and x.sizes[0]) or x.sizes[0] == gib]
        row = next((x for x in fits if gib and x.sizes[0]), fits[0] if fits else None)
        if row and gib == total and total > row.own > 0 and gib not in row.sizes:
            gib = None
        named = NamedCard(key=row.key if row else None, count=self.count, gib=gib)
        return (named if row or (gib and not self.shares) else None), ram


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
    stated = _STATED.findall(found.slug)
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
    engine, task, context = (first.get(kind) for kind in ("engine", "task", "context"))
    return Named(
        machine=_machine(found.tokens),
        model=_model_in(text) if found.named else None,
        engine=engine.meant[0] if engine else None,
        context_tokens=int(context.value) if context else None,
        task=task.meant[0] if task else None,
        unknown=tuple(token.text for token in found.tokens if token.kind in ("word", "variant")),
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


@cache
def is_placeholder(name: str) -> bool:
    """Whether a name that a driver or bus reports is a placeholder, such as `AMD Device 7551`."""
    named = {token.kind for token in scan(name).tokens} & {"card", "word", "variant"}
    choice = any(" / " in part for part in read(name).machine.unknown)
    return bool(name.strip()) and (choice or not named)


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
    spots, found = _spots(tokens), {token.kind: token for token in reversed(tokens)}
    total = sum(spot.cards[0].own * spot.count for spot in spots if spot.cards)
    named = [spot.card(total) for spot in spots]
    unknown = [x.text for x, (card, _) in zip(spots, named, strict=True) if not (card and card.key)]
    rest = "".join(f" {x.text}" if x.kind in _LEFT else "|" for x in tokens)
    strange = [part.strip() for part in rest.split("|") if FOUND["chip"].search(part)]
    unknown += [part for part in strange if part not in " ".join(unknown)]
    cards = [card for card, _ in named if card]
    ram = next((more for _, more in named if more), None)
    if not spots and "main" in found:
        ram = found["main"].value
    processor = found["processor"].text if "processor" in found else None
    alone = max((x.value for x in tokens if x.kind == "size" and not spots), default=None)
    if alone and (unknown or not processor):
        count = int(found["count"].value) if "count" in found else 1
        cards = [NamedCard(key=None, count=count, gib=alone)]
    if not cards and not unknown:
        ram = ram or alone
        named_processors = " ".join(x.text for x in tokens if x.kind == "processor")
        words = named_tokens([Token("word", word) for word in named_processors.split()])
        rows = (TABLE.cards[int(x.meant[0])] for x in words if x.kind == "card")  # its own graphics
        cards = [NamedCard(key=row.key, gib=ram) for row in rows if row.shares][:1]
    shared = cards and all(card.key in devices().sharing for card in cards)
    return NamedMachine(tuple(cards), None if shared else ram, processor, tuple(unknown))


def _spots(tokens: Sequence[Token]) -> list[_Spot]:
    """The names of cards in a text. The same name again is the same card, unless words separate it.

    A card has the sizes up to the next one; the first has also those before it.
    """
    spots: list[_Spot] = []
    since: list[Token] = []  # the last card
    for at, token in enumerate(tokens):
        last, kinds = spots[-1] if spots else None, {each.kind for each in since}
        if token.kind == "card":
            count = next((int(x.value) for x in reversed(since) if x.kind == "count"), 0)
            if last and last.meant == token.meant and (last.shares or not kinds & _LEFT):
                several = "+" in kinds and "(" not in kinds and not last.shares
                last.count = last.count + (count or 1) if several else max(last.count, count)
            elif last and "/" in kinds:  # a choice
                last.text, last.cards = f"{last.text} / {token.text}", []
            else:
                spots.append(_spot(tokens, at, count or 1))
                spots[-1].sizes += [x for x in since if x.kind in _SIZES and not last]
            since = []
            continue
        since.append(token)
        if token.kind == "times" and last:
            last.count = int(token.value)
        elif token.kind in _SIZES and last:
            last.sizes.append(token)
    if len(spots) == 1 and spots[0].count == 1:
        spots[0].count = next((int(x.value) for x in since if x.kind == "count"), 1)
    return spots


def _spot(tokens: Sequence[Token], at: int, count: int) -> _Spot:
    """The card of a token; it is no card of the table if a word beside it makes it another one.

    On a laptop it is the laptop's chip of the same name.
    """
    card, before = tokens[at], tokens[at - 1 if at else 0]
    cards = [TABLE.cards[int(each)] for each in card.meant]
    maker, shares = cards[0].maker, cards[0].shares
    after = next((x for x in tokens[at + 1 :] if x.kind not in ("noise", *_SIZES)), card)
    words = [x for x in (before, after) if x.kind == "variant" and maker in x.meant[0]]
    words += [before] if before.kind == "maker" and maker not in before.meant[0] else []
    words += [after] if after.kind == "word" and FOUND["chip"].search(after.text) else []
    laptop = next((x for x in tokens if x.kind == "laptop"), None)
    if laptop:
        cards = [TABLE.cards[each.laptop] for each in cards if each.laptop >= 0]
        words += [] if cards else [laptop]
    text = " ".join(x.text for x in tokens if x is card or x in words)
    return _Spot(text, card.meant, [] if words else cards, count, [], shares)
