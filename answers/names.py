"""Read cards, machines, models and whole questions as people write them.

`read("2x3090 qwen3.6 27b q5 64k")` gives the machine, the model, its quantisation and the context.
A card is refused if a word beside its name makes it another card (`4090 ti`).
`site_src/assets/javascripts/names.js` is the same algorithm; the tests read one list with both.
"""

import difflib
import re
from functools import cache

import msgspec
from msgspec.structs import replace

from answers.model_names import find_quantisation, quantisation_label
from answers.model_search import find_model
from answers.name_scan import FOUND, TABLE, Scan, Spot, address_in, plain_text
from answers.names_table import ListedCard, squeezed
from estimates.roofline import devices, normalised

_NEAREST = 3
_STATED = re.compile(r"(?:^|-)e?(\d+(?:\.\d+)?)([bm])(?=-|$)")
_REPOSITORY = re.compile(
    r"(?:^|\s)(?:(?:hf|huggingface)\.co/)?(?!models/)(\w[\w.-]*/[\w.-]+)(?=[\s:,]|$)(?<!\.gguf)",
    re.ASCII,
)
_LISTED = {card.key: card for card in TABLE.cards}


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
    """The machine that a text describes: its cards, its main memory, its processor."""
    return _machine(Scan(text))


@cache
def read_model(text: str) -> ModelRef:
    """The model that a text names, with the quantisation, repository and size in the text."""
    owned = _REPOSITORY.search(text)
    slug, unknown = find_model(text)
    stated = _STATED.findall(slug)
    size = float(stated[0][0]) if len(stated) == 1 else None
    return ModelRef(
        slug=slug,
        quantisation=quantisation_label(text),
        repository=owned[1] if owned else None,
        parameters_b=size / 1000 if size and stated[0][1] == "m" else size,
        written=text,
        unknown=unknown,
    )


@cache
def read(text: str) -> Named:
    """The parts of a question in one text."""
    address = address_in(text)
    rest = text.replace(address, " ", 1) if address else text
    scan = Scan(rest, sentence=True)
    machine, model = _machine(scan), address or "-".join(scan.model)
    quantised = find_quantisation(rest)
    if model and quantised:
        model = f"{model} {quantised[1]}"
    if not model and machine.unknown == (rest,):
        machine = NamedMachine()
    return Named(
        machine=machine,
        model=read_model(model) if model else None,
        engine=scan.words.get("e"),
        context_tokens=scan.context,
        task=scan.words.get("t"),
        unknown=tuple(scan.tokens[at] for at in scan.left),
    )


def cards_named(text: str) -> tuple[str, int] | None:
    """The only card named in a text, and how many of it; `None` for no card or different cards."""
    cards = read_machine(text).cards
    keys = {card.key for card in cards}
    key = keys.pop() if len(keys) == 1 else None
    return None if key is None else (key, sum(card.count for card in cards))


def card_key(label: str) -> str | None:
    """The name in `devices.json` of the only card in a label; `None` for no card or several."""
    found = cards_named(label)
    return found[0] if found else None


@cache
def is_placeholder(name: str) -> bool:
    """Whether a name that a driver or bus reports is a placeholder, such as `AMD Device 7551`."""
    scan = Scan(name)
    nothing = not scan.spots and not scan.left and bool(name.strip())
    return nothing or FOUND["placeholder"].search(plain_text(name)) is not None


def card_label(key: str) -> str:
    """A table name in its usual spelling: `rtx 4070 ti super` becomes `RTX 4070 Ti SUPER`."""
    words = ("radeon " * bool(re.fullmatch(r"\d{3}m|\d{4}s|vega \d+", key)) + key).split()
    return " ".join(
        TABLE.printed.get(word)
        or (word.upper() if re.search(r"\d|^.{1,3}$", word) else word.capitalize())
        for word in words
    )


@cache
def size_in(name: str) -> float | None:
    """The first size in a name, in GiB."""
    sizes = Scan(name).sizes
    return sizes[0].gib if sizes else None


def nearest_cards(text: str) -> tuple[str, ...]:
    """The names in the table that are most similar to a text, at most three."""
    plain = normalised(FOUND["size"].sub(" ", plain_text(text)))
    begun = [name for name in devices().names if name.startswith(plain)]
    near = difflib.get_close_matches(plain, devices().names, n=_NEAREST, cutoff=0.4)
    return tuple(begun or near)[:_NEAREST]


def _machine(scan: Scan) -> NamedMachine:
    """The machine of a scanned text; what makes a card another one is in `unknown`."""
    plain = plain_text(scan.text)
    if FOUND["placeholder"].search(FOUND["processor"].sub("@", plain)) or FOUND["no_card"].search(
        plain
    ):
        return NamedMachine(unknown=(scan.text,))
    ram, alone = _attach(scan)
    unknown: list[str] = []
    named = [_card(scan, spot, unknown) for spot in scan.spots]
    cards = _each([card for card in named if card is not None], scan.pending)
    unknown += [part for part in _chips(scan) if part not in " ".join(unknown)]
    by_word = FOUND["processor_word"].search(plain) and not FOUND["graphics"].search(plain)
    without = FOUND["no_gpu"].search(plain)
    processor = scan.processor or ("cpu" if by_word or without else None)
    a_mac = FOUND["mac"].search(plain)
    if not cards and alone and not a_mac and (unknown or not scan.processor):
        cards = [NamedCard(key=None, count=scan.pending or 1, gib=max(alone))]
        strange = "" if scan.sentence else " ".join(scan.tokens[at] for at in scan.left)
        unknown = unknown or ([strange] if FOUND["strange"].search(strange) else [])
    if not cards and not unknown:
        ram = ram or max(alone, default=None)
        cards = _built_in(scan.processor or "", ram)
    if not (cards or unknown or processor or ram or scan.sentence):
        number = FOUND["number_alone"].fullmatch(plain)
        if not number:
            return NamedMachine(unknown=(scan.text,) if scan.text.strip() else ())
        cards = [NamedCard(key=None, gib=float(number[1] or number[2]))]
    shared = cards and all(card.key in devices().sharing for card in cards)
    return NamedMachine(tuple(cards), None if shared else ram, processor, tuple(unknown))


def _attach(scan: Scan) -> tuple[float | None, list[float]]:
    """Give each size to the card before it, else to the next card, else to main memory.

    Returns the main memory in GiB, and the sizes without a card.
    """
    ram, alone = None, []
    for size in scan.sizes:
        earlier = [spot for spot in scan.spots if spot.start < size.at]
        spot = earlier[-1] if earlier else scan.spots[0] if scan.spots else None
        shares = spot is not None and TABLE.cards[spot.options[0]].shares
        bare = spot is not None and spot.gib is None
        of_processor = size.at > 0 and scan.tokens[size.at - 1] == "@"
        if (size.is_ram or of_processor) and not (shares and bare):
            ram = ram or size.gib
        elif spot is None:
            alone.append(size.gib)
        elif bare:
            spot.gib = size.gib
        elif not shares and size.gib not in (spot.gib, _total(scan.spots)):
            ram = ram or size.gib
    return ram, alone


def _total(spots: list[Spot]) -> float:
    return sum((spot.gib or 0) * spot.count for spot in spots)


def _card(scan: Scan, spot: Spot, unknown: list[str]) -> NamedCard | None:
    """The card of a spot; `None`, with a note in `unknown`, if its words fit no card."""
    options = [(at, TABLE.cards[at]) for at in spot.options]
    fits = [each for each in options if each[1].named in (0, spot.gib or 0)]
    sized = [each for each in fits if spot.gib and each[1].named]
    found = next(iter(sized or fits or ([] if spot.gib else options)), None)
    words = _beside(scan, spot, options[0][1].maker)
    card = found[1] if found else None
    if card is not None and scan.laptop:
        card = _of_laptop(card)
        words += [] if card else ["laptop"]
    if card is not None and not words:
        return NamedCard(key=card.key, count=spot.count, gib=spot.gib)
    part = [each for each in scan.tokens[spot.start : spot.end] if each[0] not in "#@+/("]
    unknown.append(" ".join(dict.fromkeys([*part, *words])))
    own_memory = spot.gib and not options[0][1].shares
    return NamedCard(key=None, count=spot.count, gib=spot.gib) if own_memory else None


def _of_laptop(card: ListedCard) -> ListedCard | None:
    """The laptop's chip of a card's name; `None` if there is none."""
    if card.laptop >= 0:
        return TABLE.cards[card.laptop]
    own = card.shares or card.maker == "m" or re.search(r"laptop|[0-9]m\b", card.key)
    return card if own else None


def _beside(scan: Scan, spot: Spot, maker: str) -> list[str]:
    """Words directly beside a card that make it another: a variant, or another maker."""
    before, after = spot.start - 1, spot.end
    while after < len(scan.tokens) and scan.tokens[after][0] == "#":
        after += 1
    found = [
        word
        for at in (before, after)
        if at in scan.left
        and ((word := scan.tokens[at]) in TABLE.variants[maker] or _goes_on(scan, at, after))
    ]
    while before in scan.makers:
        if maker not in scan.makers[before]:
            found.append(scan.tokens[before])
        before -= 1
    return found


def _goes_on(scan: Scan, at: int, after: int) -> bool:
    """Whether the word after a card is a number that continues its name: `arc b770`."""
    return at == after and FOUND["chip"].fullmatch(scan.tokens[at]) is not None


def _each(cards: list[NamedCard], pending: int) -> list[NamedCard]:
    """The cards with a count that came later; the sum of their sizes is not the last one's size."""
    if pending and len(cards) == 1 and cards[0].count == 1:
        cards = [replace(cards[0], count=pending)]
    rows = [_LISTED.get(card.key or "") for card in cards]
    total = sum(card.count * row.own for card, row in zip(cards, rows, strict=True) if row)
    if sum(card.count for card in cards) > 1 and all(row and row.own for row in rows):
        last = rows[-1]
        if last and cards[-1].gib == total and total not in (last.named, *last.changed):
            return [*cards[:-1], replace(cards[-1], gib=None)]
    return cards


def _chips(scan: Scan) -> list[str]:
    """Words that look like a card's number and are in no table, with the words before them."""
    found = []
    for at in scan.left:
        if FOUND["chip"].fullmatch(scan.tokens[at]):
            start, end = at, at + 1
            while start - 1 in scan.makers:
                start -= 1
            while end in scan.left:
                end += 1
            found.append(" ".join(scan.tokens[start:end]))
    return found


def _built_in(processor: str, gib: float | None) -> list[NamedCard]:
    """The graphics unit of a processor that is named without a card."""
    name = squeezed(processor)
    fitting = [
        (-len(word), at)
        for word, meant in TABLE.keys["c"].items()
        if word in name and TABLE.cards[at := int(meant.split()[0])].shares
    ]
    return [NamedCard(key=TABLE.cards[min(fitting)[1]].key, gib=gib)] if fitting else []
