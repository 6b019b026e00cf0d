"""Find known spellings in a text: sizes and counts are taken out, the longest name counts.

The table of `answers/names_table.py` is all that is known. `site_src/assets/javascripts/names.js`
has the same steps.
"""

import re
import unicodedata

import msgspec

from answers.model_names import find_quantisation
from answers.names_table import names_table

TABLE = names_table()
FOUND = {name: re.compile(text, re.ASCII) for name, text in TABLE.patterns.items()}
_STEPS = {
    name: [(re.compile(text, re.ASCII), re.sub(r"\$(\d)", r"\\\1", to)) for text, to in steps]
    for name, steps in TABLE.steps.items()
}
_LONGEST = 200
_LONGEST_KEY = 8  # tokens
_TOKEN = re.compile(r"#\d+|[@+/(]|[a-z0-9.]+")
_GIB = {"t": 1024, "m": 1 / 1024}  # by the first letter of the unit; else 1


class StatedSize(msgspec.Struct):
    """A size in GiB, whether it is main memory's, and the index of its token."""

    gib: float
    is_ram: bool
    at: int = 0


class Spot(msgspec.Struct):
    """Cards found at tokens `start` to `end`; `options` are indices in the table.

    One name twice is two cards only if something separates the names.
    `reach` is the end of the words after the name that distinguish nothing.
    """

    options: list[int]
    start: int
    end: int
    count: int
    reach: int
    gib: float | None = None


class Scan:
    """The findings of one pass over a text; a `sentence` may also name a model, engine and task."""

    def __init__(self, text: str, *, sentence: bool = False) -> None:
        self.text, self.sentence = text, sentence
        self.sizes: list[StatedSize] = []
        self.spots: list[Spot] = []
        self.left: dict[int, None] = {}  # the tokens that nothing explains, in order
        self.makers: dict[int, str] = {}
        self.words: dict[str, str] = {}  # engine and task
        self.model: list[str] = []
        self.processor: str | None = None
        self.context: int | None = None
        self.laptop = False
        self.pending = 0  # a count whose card comes later
        self.tokens = self._tokens()
        at = 0
        while at < len(self.tokens):
            at = self._step(at)

    # ---- tokens -------------------------------------------------------------------------------
    def _tokens(self) -> list[str]:
        """The words of the text; `#3` is the third size, `@` a processor, `2x` and `x2` counts."""
        found = find_quantisation(self.text)
        plain = plain_text(self.text.replace(found[1], " ", 1) if found else self.text)
        plain = FOUND["no_gpu"].sub(" @ ", replaced("before", plain))
        plain = FOUND["processor"].sub(self._take_processor, plain)
        plain = FOUND["size"].sub(self._take_size, plain)
        plain = replaced("after", FOUND["context"].sub(self._take_context, plain))
        stripped = (each.strip(".") for each in _TOKEN.findall(plain))
        return [each for each in stripped if each]

    def _take_processor(self, found: re.Match[str]) -> str:
        self.processor = self.processor or found[0].strip()
        return " @ "

    def _take_size(self, found: re.Match[str]) -> str:
        word = found[1] or found[6] or ""
        number, unit = (found[2], found[3]) if found[1] else (found[4], found[5])
        if FOUND["storage"].match(word):
            return " "
        gib = int(float(number) * _GIB.get(unit[0], 1) * 10 + 0.5) / 10
        self.sizes.append(StatedSize(gib, FOUND["main_memory"].match(word) is not None))
        return f" #{len(self.sizes) - 1} "

    def _take_context(self, found: re.Match[str]) -> str:
        thousands, tokens, named = found.groups()
        self.context = int(float(thousands) * 1024) if thousands else int(tokens or named)
        return " "

    # ---- names --------------------------------------------------------------------------------
    def _step(self, at: int) -> int:
        """Take the name that begins at a token; the index of the next token."""
        kind, meant, end = self._longest(at)
        match kind:
            case "" | "n" if self._begins_model(at):
                return self._take_model(at)
            case "c":
                self._take_card(meant, at, end)
            case "#":
                self.pending = int(meant)
            case "e" | "t":
                self.words.setdefault(kind, meant)
            case "k":
                self.makers[at] = meant
            case "n":
                self._reach(at, end)
            case _:
                self._take_other(at, kind)
        return end

    def _longest(self, at: int) -> tuple[str, str, int]:
        """The kind, meaning and end of the longest known spelling at a token; kind "" if none."""
        for end in range(min(len(self.tokens), at + _LONGEST_KEY), at, -1):
            part = self.tokens[at:end]
            if part[0][0] in "#@+/(" or part[-1][0] in "#@+/(" or {"@", "+"} & set(part):
                continue
            word = "".join(each for each in part if each[0] not in "#/(")
            for kind in ("c", "#", "l", "e", "t", "k", "n"):
                if word in TABLE.keys[kind]:
                    return kind, TABLE.keys[kind][word], end
            if re.search("[0-9]s$", word) and word[:-1] in TABLE.keys["c"]:  # "3090s"
                return "c", TABLE.keys["c"][word[:-1]], end
        return "", "", at + 1

    def _take_card(self, meant: str, at: int, end: int) -> None:
        count, self.pending = self.pending, 0
        before = self.tokens[at - 1] if at else ""
        if not count and before in {*"23456789"} and (at == 1 or self.tokens[at - 2] == "+"):
            count = int(before)
            self.left.pop(at - 1)
        options = [int(each) for each in meant.split()]
        last = self.spots[-1] if self.spots else None
        between = self.tokens[last.end : at] if last is not None else []
        if (
            last is None
            or last.options != options
            or any(x in self.left for x in range(last.end, at))
        ):
            self.spots.append(Spot(options, at, end, count or 1, end))
            return
        several = "+" in between and "(" not in between
        last.count = last.count + (count or 1) if several else max(last.count, count)
        last.end = last.reach = end

    def _reach(self, at: int, end: int) -> None:
        if self.spots and self.spots[-1].reach == at:
            self.spots[-1].reach = end

    def _take_other(self, at: int, kind: str) -> None:
        """A token that is not a name: a count, a size without a unit, or an unknown word."""
        self.laptop = self.laptop or kind == "l"
        token, last = self.tokens[at], self.spots[-1] if self.spots else None
        bare = last is not None and last.reach == at and last.gib is None
        if FOUND["count"].fullmatch(token):
            if token[-1] == "x":
                self.pending = int(token[:-1])
            elif last is not None:
                last.count = int(token[1:])
        elif token[0] == "#":
            self.sizes[int(token[1:])].at = at
        elif last is not None and bare and FOUND["bare_gib"].fullmatch(token):
            last.gib = float(token)  # "m3 max 64", "rtx 3060 12"
        elif token[0] not in "@+/(" and not kind:
            self.left[at] = None

    # ---- the model in a sentence ----------------------------------------------------------------
    def _begins_model(self, at: int) -> bool:
        if self.model or not self.sentence:
            return False
        token = self.tokens[at]
        return bool(FOUND["family"].fullmatch(token) or FOUND["parameters"].fullmatch(token))

    def _take_model(self, at: int) -> int:
        """Take a model's name that begins at a token; the index of the next token."""
        start, end = at, at + 1
        while start - 1 in self.left and self._belongs(start):
            start -= 1
            self.left.pop(start)
        while end < len(self.tokens) and not self._ends_model(end):
            end += 1
        self.model = self.tokens[start:end]
        return end

    def _belongs(self, at: int) -> bool:
        """Whether the word before a token is of the same name: by a hyphen, or before a size."""
        before, token = self.tokens[at - 1], self.tokens[at]
        sized = FOUND["parameters"].fullmatch(token) or not FOUND["family"].fullmatch(token)
        return before.isalpha() and bool(sized or f"{before}-{token}" in self.text.lower())

    def _ends_model(self, at: int) -> bool:
        token, (kind, _, _) = self.tokens[at], self._longest(at)
        if token[0] in "#@+(" or FOUND["stop"].fullmatch(token):
            return True
        sized = at + 1 < len(self.tokens) and FOUND["parameters"].fullmatch(self.tokens[at + 1])
        return kind in ("c", "e", "k") or (kind in ("t", "#") and not sized)


def replaced(step: str, text: str) -> str:
    """The text after the replacements of a step of the table."""
    for pattern, replacement in _STEPS[step]:
        text = pattern.sub(replacement, text)
    return text


def plain_text(text: str) -> str:
    """The text in lower case, without accents and trademark signs, with blanks for hyphens."""
    text = re.sub(r"[®™]|\((?:R|TM|C)\)", " ", text[:_LONGEST], flags=re.IGNORECASE)
    return replaced("plain", unicodedata.normalize("NFKD", text).lower()).strip()


def address_in(text: str) -> str | None:
    """The address of a model in a text, `owner/name:tag`, as the hub and Ollama write it."""
    for found in re.finditer(  # bounded, for any length of text
        r"(?:[\w.~:-]{0,96}[/\\]){1,12}[\w.-]{1,96}(?::[\w.-]{1,96})?", text, re.ASCII
    ):
        name = re.split(r"[/\\]", found[0].lower())[-1]
        if FOUND["family"].match(name) or re.search(r"(?<![a-z0-9])\d[\d.]*b(?![a-z0-9])", name):
            return found[0]
    return None
