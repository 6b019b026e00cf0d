"""No regular expression of the project takes long on any text.

Foreign text reaches all of them: answers of models, chat templates, logs, names and files. Each
pattern, in a constant or inline, is tried on 40 KB built from its own letters. The long text is
skipped if 1 KB and 4 KB show that it stays below the limit: time is extrapolated as a power of the
length, at most the third, which is the growth of a pattern that tries every end from every start.
"""

import ast
import importlib
import math
import random
import re
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from harness.campaign.answer_form import form_of
from harness.campaign.model import SuitePrompt
from planner.names import read_machine
from schemas.posted import BEGIN, UnreadableTextError, from_text
from tests.nightly import few

ROOT = Path(__file__).parents[1]
PACKAGES = ("schemas", "estimates", "planner", "harness", "pipeline", "tools", "bench", "draftmap")
LENGTHS = (1_000, 4_000, 40_000)  # a pattern that is slow fails early, at a short text
LIMIT_S, _BLINK_S = 1.0, 0.3
_TICK_S = 1e-5  # below, a clock says little
_CUBIC, _ERROR = 3.0, 0.3  # powers
# Searched in the first 200 letters of a name only.
SHORT = {
    "planner.name_scan.FOUND": (200,),
    "planner.name_scan.STEPS": (200,),
    "planner.name_scan._CLASSES": (200,),
    "estimates.gpu_names._NO_CARD": (200,),
}
# Modules that import packages of other machines; they compile no pattern.
_ELSEWHERE = ("harness.mlx.model", "harness.mlx.session", "tools.mlx", "tools.vllm")
_PAIR, SHARES = 2, 4
_WHOLE, _START, _ANYWHERE = "fullmatch", "match", "search"
_LITERAL = re.compile(r"[A-Za-z_:/'\"{%(< -]{2,40}")


def slow(
    pattern: re.Pattern[str] | re.Pattern[bytes], method: str, lengths: tuple[int, ...] = LENGTHS
) -> str | None:
    """The first text for which a pattern needs over a second, described by its repeated part."""
    for unit in _units(pattern.pattern):
        # The end keeps most patterns from matching there; white space is tried with three ends.
        ends = ("\n!\0", " \0", "") if len(unit) > _PAIR or unit.isspace() else ("\n!\0",)
        for end in (*ends, None) if len(unit) > _PAIR else ends:
            times: list[float] = []
            for length in lengths:
                if length == LENGTHS[-1] and times and _foreseen(*times) < LIMIT_S:
                    continue
                text = (
                    unit * (length // len(unit)) + end if end is not None else unit + " " * length
                )
                took = _seconds(pattern, method, text)
                times.append(took)
                if took > LIMIT_S * length / LENGTHS[-1] + _BLINK_S:
                    return f"{length} letters of {unit!r} take {took:.2f} s"
    return None


def _foreseen(shorter: float, longer: float) -> float:
    """Upper bound for the time of the long text, from the times of two shorter ones."""
    first, second, whole = LENGTHS
    power = math.log(max(longer, _TICK_S) / max(shorter, _TICK_S)) / math.log(second / first)
    return longer * (whole / second) ** min(_CUBIC, max(power, 1.0) + _ERROR)


def _seconds(pattern: re.Pattern[str] | re.Pattern[bytes], method: str, text: str) -> float:
    """The processor time that a pattern needs for a text."""
    given = text.encode() if isinstance(pattern.pattern, bytes) else text
    began = time.process_time()
    if method == _ANYWHERE:
        any(False for _ in pattern.finditer(given))  # type: ignore[arg-type]
    else:
        getattr(pattern, method)(given)
    return time.process_time() - began


@cache
def _units(source: str | bytes) -> tuple[str, ...]:
    """Texts to repeat: letters of each class, and the pattern's own letters, words and pairs."""
    plain = source.decode() if isinstance(source, bytes) else source
    literal = re.sub(r"\\(\W)", r"\1", re.sub(r"\\[A-Za-z]|\(\?[A-Za-z<>:=!]*", "\n", plain))
    words = [each for each in _LITERAL.findall(literal) if each.strip()]
    letters = dict.fromkeys(each for each in plain if each not in r"\[](){}?*+^$|")
    single = list(dict.fromkeys([*"a0_ -.\n{", *list(letters)[:12]]))
    pairs = random.Random(plain).sample(  # noqa: S311 - texts, not secrets
        [a + b for a in single for b in single], k=6
    )
    return tuple(dict.fromkeys([*single, *words, *(f"{each} " for each in words), *pairs]))


def _modules() -> Iterator[tuple[Path, str]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path, ".".join(path.relative_to(ROOT).with_suffix("").parts)


def _inline(path: Path) -> Iterator[tuple[str, str, re.Pattern[str]]]:
    """Yield the patterns that a file passes directly to a function of `re`."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=attr),
                args=[ast.Constant(value=str(pattern)), *_],
            ) if attr not in {"escape", "compile"}:
                method = attr if attr in {_WHOLE, _START} else _ANYWHERE
                yield f"{path.relative_to(ROOT)}:{node.lineno}", method, re.compile(pattern)


def _held(value: object, depth: int = 3) -> Iterator[re.Pattern[str]]:
    """The patterns in a constant of a module, also within tables."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, (tuple, list, dict, frozenset)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _held(each, depth - 1)
    elif depth and type(value).__module__.split(".")[0] in PACKAGES:
        kind = type(value)
        names = getattr(kind, "__struct_fields__", getattr(kind, "__dataclass_fields__", ()))
        for field in names:
            yield from _held(getattr(value, field, None), depth - 1)


@cache
def _uses(source: str) -> Mapping[str, set[str]]:
    """Attributes used of each name in a source: `_FORM.search` is `search` of `_FORM`."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name, used in re.findall(r"\b(\w+)\.(?=(\w+))", source):
        found[name].add(used)
    return found


def _method(name: str, sources: str) -> str:
    """The most general method with which a constant is used."""
    used = _uses(sources).get(name, set())
    if used and used <= {_WHOLE}:
        return _WHOLE
    return _START if used and used <= {_WHOLE, _START} else _ANYWHERE


@cache
def patterns() -> dict[str, tuple[str, re.Pattern[str]]]:
    """Every pattern of the project with its method, by place."""
    found: dict[str, tuple[str, re.Pattern[str]]] = {}
    seen: set[int] = set()
    everything = "\n".join(path.read_text("utf-8") for path, _ in _modules())
    for path, module in _modules():
        for place, method, pattern in _inline(path):
            found[place] = method, pattern
        if path.stem == "__main__" or module.startswith(_ELSEWHERE):
            continue
        source = path.read_text("utf-8")
        own = set(re.findall(r"^\w+", source, re.MULTILINE))
        for name, value in vars(importlib.import_module(module)).items():
            if name not in own:
                continue  # imported
            for number, pattern in enumerate(_held(value)):
                if id(pattern) in seen:
                    continue
                seen.add(id(pattern))
                sources = source if name.startswith("_") else everything
                found[f"{module}.{name}[{number}]"] = _method(name, sources), pattern
    return found


@pytest.mark.long
@pytest.mark.parametrize("share", few(range(SHARES), 1))
def test_no_pattern_takes_a_second_of_processor_time_for_40_kb(share: int) -> None:
    found = dict([*patterns().items()][share::SHARES])

    too_slow = {
        place: text
        for place, (method, pattern) in found.items()
        if (text := slow(pattern, method, SHORT.get(place.partition("[")[0], LENGTHS)))
    }

    assert too_slow == {}
    assert len(found) > 300 / SHARES


@pytest.mark.long
def test_a_pattern_that_hangs_is_found() -> None:
    found = [
        slow(re.compile(each), _ANYWHERE, (20_000,))
        for each in (r"\w+\(", r"\{%.*?%\}", r"(\S+) size")
    ]

    assert None not in found
    assert slow(re.compile(r"\w+\("), _WHOLE) is None


@pytest.mark.parametrize("letters", ["0", "xeon ", "a"])
def test_a_name_of_40_kb_is_read_at_once(letters: str) -> None:
    began = time.process_time()

    read_machine(letters * (40_000 // len(letters)))

    assert time.process_time() - began < LIMIT_S


def test_an_answer_of_200_kb_of_one_letter_is_checked_at_once() -> None:
    prompt = SuitePrompt(id="json-1", task="json", text="Answer as JSON.", quick=False)
    began = time.process_time()

    form_of(prompt, "_" * 200_000, cut=True)

    assert time.process_time() - began < LIMIT_S


@pytest.mark.parametrize("count", [1, 2])
def test_beginnings_of_results_without_an_end_are_refused_at_once(count: int) -> None:
    began = time.process_time()

    with pytest.raises(UnreadableTextError):
        from_text(f"{BEGIN}\n" * (count * 8_000))

    assert time.process_time() - began < LIMIT_S
