"""Turn the answers in a form into a published document with one figure.

The issue form *Report a published figure* and `python -m tools.reported add` ask the same
questions.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from schemas.posted import UnreadableTextError

Given: TypeAlias = Mapping[str, Any]  # answers as text, or the numbers in these texts

QUESTIONS: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
REQUIRED = ("url", "who", "date", "card", "model", "method")
NUMBERS = ("depth", "before", "after", "speedup", "streams", "temperature")
CRASHED = "crashed"  # the answer, in place of a rate, that a run with speculation crashed
_HEADING = re.compile(r"^### (.+?)[ \t]*$", re.MULTILINE)
_CARD = re.compile(r"(?:(\d{1,2})\s*[x×]\s*)?(.+?)(?:(?<!\s)\s++(\d{1,3})\s*GB)?")  # noqa: RUF001 - as people write it
_SHARED = re.compile(r"Apple|GB10|\b(?:780|880|890)M\b|80[56]0S|Arc 1[34]0V|Jetson")
_GUESS = re.compile(r"\?|\b(?:likely|perhaps|probably|class|not stated|unknown)\b", re.IGNORECASE)


def answers_of(body: str) -> dict[str, str]:
    """The answers given in a form, by the name of the question."""
    _, *parts = _HEADING.split(body.replace("\r\n", "\n"))
    given = dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))
    found = {name: given.get(question, "") for name, question in QUESTIONS.items()}
    return {name: text for name, text in found.items() if text not in {"", "_No response_", "None"}}


def published(answers: Mapping[str, str], day: str, **by: str) -> tuple[str, bytes]:
    """The name and content of a file with one figure. Raises `UnreadableTextError`.

    `by` has the accounts `reported_by` and `checked_by`, if any.
    """
    for name in REQUIRED:
        if not answers.get(name):
            raise _wrong(name, "is empty; this field is required")
        if name in {"card", "model"} and _GUESS.search(answers[name]):
            raise _wrong(name, f"is a guess ({answers[name]}); guesses are not accepted")
    crashed = answers.get("after", "").lower() == CRASHED
    stated = {name: text for name, text in answers.items() if not (crashed and name == "after")}
    numbers = {name: _number(name, stated[name]) for name in NUMBERS if name in stated}
    if not (crashed or "speedup" in numbers or {"before", "after"} <= numbers.keys()):
        missing = "after" if "before" in numbers else "before"
        raise _wrong(missing, "is missing; state both rates, or the speedup")
    rigs, rows = [_rig(answers["card"])], _rows(answers, numbers)
    digest = sha256(json.dumps([rigs, rows], sort_keys=True).encode()).hexdigest()[:8]
    title = answers["url"].removeprefix("https://")[:160]
    name = "-".join([*re.findall(r"[a-z0-9]+", title[:48].lower()), digest])
    document: dict[str, Any] = {
        "format": "draftmap-published",
        "version": 1,
        "licence": "CC-BY-4.0",
        "source": {"id": name, "title": title, **_of(answers, url="url", author="who")},
        "transcribed_on": day,
        **by,
        "rigs": rigs,
        "rows": rows,
    }
    return f"{name}.json", json.dumps(document, indent=2, ensure_ascii=False).encode() + b"\n"


def _rig(card: str) -> dict[str, Any]:
    found = _CARD.fullmatch(card.strip())
    count, name, memory = found.groups() if found else (None, card, None)
    several = int(count or 1)
    gpu = f"{several} \N{MULTIPLICATION SIGN} {name}" if several > 1 else name
    rig = {"id": "rig", "device": "gpu", "gpu": gpu}
    if _SHARED.search(name):
        return rig | {"unified_memory": True}
    return rig | ({"gpu_vram_mib": int(memory) * several * 1024} if memory else {})


def _rows(answers: Mapping[str, str], numbers: Given) -> list[dict[str, Any]]:
    """The figure's row, preceded by its baseline's row if both rates are stated."""
    engine = _of(answers, name="engine", version="version", backend="backend")
    settings = _of(numbers, temperature="temperature", concurrency="streams")
    settings |= _of(answers, offload="offload")
    crashed = answers.get("after", "").lower() == CRASHED
    both = "before" in numbers and (crashed or "after" in numbers)

    def row(name: str, kind: str, method: Given, figures: Mapping[str, str]) -> dict[str, Any]:
        doubted = kind == "speculation" and "doubt" in answers
        return {
            "id": name,
            "place": "The page",
            "kind": kind,
            "rig": "rig",
            **({"engine": engine} if "name" in engine else {}),
            "target": _of(answers, name="model", quantisation="quantisation"),
            **method,
            **_of(answers, contributor="who", date="date", url="url"),
            **({"doubts": [answers["doubt"]]} if doubted else {}),
            **_of(answers, task="task"),
            **({"settings": settings} if settings else {}),
            **({"baseline_row": "baseline"} if both and kind == "speculation" else {}),
            **({"outcome": CRASHED} if crashed and kind == "speculation" else {}),
            "figures": [
                {"quantity": quantity, "value": numbers[each], "as_printed": answers[each]}
                for quantity, each in figures.items()
                if each in numbers
            ],
        }

    draft = {"draft": {"name": answers["draft"]}} if "draft" in answers else {}
    method = draft | _of(answers, method="method") | _of(numbers, n_max="depth")
    printed = {"decode_tps": "after", "speedup": "speedup"}
    figure = row("figure", "speculation", method, printed) | _of(answers, note="note")
    base = row("baseline", "baseline", {"method": "none"}, {"decode_tps": "before"})
    return [base, figure] if both else [figure]


def _of(given: Given, **names: str) -> dict[str, Any]:
    return {name: given[each] for name, each in names.items() if each in given}


def _number(name: str, text: str) -> float:
    if not re.fullmatch(r"\d{1,7}(?:\.\d{1,4})?", text):
        raise _wrong(name, f"is not a number ({text}); write a number such as 1.85")
    return int(float(text)) if float(text).is_integer() else float(text)


def _wrong(name: str, words: str) -> UnreadableTextError:
    return UnreadableTextError(f"{QUESTIONS[name].rstrip('?')}: {words}")
