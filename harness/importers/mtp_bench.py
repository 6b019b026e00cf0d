"""How does the output of mtp-bench read? The script that people paste in llama.cpp's threads.

JSON with a list of requests (`results` or `requests`), or the table that it prints. Its rate is
the server's; a time is worked out from it. Runners around it add `gguf`, `spec_flags`, `timestamp`.
"""

import itertools
import re
import shlex
from collections.abc import Iterator, Sequence

import msgspec

from harness.campaign.methods import controller_of
from harness.errors import BadInputError
from harness.importers.entries import Entry, document
from harness.importers.model import (
    BASELINE,
    Format,
    Given,
    Part,
    Reading,
    Record,
    arms,
    named,
    text,
)
from harness.importers.translate import METHODS, model_facts, reason_of, task_names
from harness.importers.trials import MS_PER_S, rounds
from schemas import vocabulary
from schemas.codec import Json

_TYPE = "--spec-type"
_P_MINS = ("--spec-draft-p-min", "--draft-p-min")
_DEPTHS = ("--spec-draft-n-max", "--draft-max", "--draft-n", "--draft")
_SHARE = re.compile(r"[01](?:\.[0-9]{1,4})?")
_KINDS = {
    word: entry.id
    for entry in vocabulary.METHODS.values()
    if entry.llama_cpp
    for word in entry.llama_cpp.types
}


def method_of(flags: str) -> str | None:
    """The method as `--map method=` takes it; `None` for no type, or an unknown one.

    Several types are a chain; a depth that the engine changes has the name of what changes it.
    """
    values = _values(flags)
    kinds = [_KINDS.get(word) for word in values.get(_TYPE, "").split(",")]
    known = [kind for kind in kinds if kind is not None]
    if len(known) < len(kinds):
        return None
    depth = next((values[flag] for flag in _DEPTHS if flag in values), "")
    sizes = {"n_max": depth if depth.isdecimal() else "", "controller": controller_of(flags) or ""}
    if len(known) > 1:
        sizes |= {"name": "+".join(known), "chain": "+".join(known)}
        return _method("other", sizes)
    p_min = next((values[flag] for flag in _P_MINS if flag in values), "")
    sizes["p_min"] = p_min if _SHARE.fullmatch(p_min) and float(p_min) else ""
    return _method(known[0], sizes)


def _method(kind: str, sizes: dict[str, str]) -> str:
    """The method with those of the sizes that it has and that are known."""
    fields = {field.name for field in msgspec.structs.fields(METHODS[kind])}
    given = [f"{name}={value}" for name, value in sizes.items() if value and name in fields]
    return f"{kind}:{','.join(given)}" if given else kind


def _values(flags: str) -> dict[str, str]:
    """Each flag with the word that follows it, or after its `=`."""
    try:
        words = shlex.split(flags)
    except ValueError:
        return {}  # an open quotation mark: nothing certain can be read
    values = dict(itertools.pairwise(words))
    return values | dict(word.split("=", 1) for word in words if "=" in word)


_ROW = re.compile(
    r"[\s>|]*(?P<name>[^\s>]\S{0,80})(?P<repeats>\s+x\d+)?\s+pred=\s*(?P<predicted_n>\d+)\s+"
    r"draft=\s*(?P<draft_n>\d+)\s+acc=\s*(?P<draft_n_accepted>\d+)\s+rate=\S+\s+"
    r"tok/s=\s*(?P<predicted_per_second>\d+(?:\.\d+)?)"
)
_COLUMN = "pred="
_FAILED_ROW = re.compile(r"[\s>|]*(?P<name>[^\s>]\S{0,80})\s+ERROR: (?P<error>.*)")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")


def read(files: Sequence[Given]) -> Reading:
    """One part; every file is an arm, the first one the baseline."""
    pairs = named(files)
    left_out: list[str] = []
    rows = [(arm, file, _rows(file, left_out)) for arm, file in pairs]
    records = tuple(record for arm, _, found in rows for record in _records(arm, found))
    tops = [(arm, Entry.of(file, document(file))) for arm, file in pairs if not _is_table(file)]
    part = Part(
        name="mtp-bench",
        suite="mtp-bench",
        facts={"engine": "llama.cpp", "rate_counts": "tokens"} | _facts([top for _, top in tops]),
        arms=arms(records, pairs, _concurrency(tops), _methods(tops)),
        records=records,
        tasks=task_names("mtp-bench"),
    )
    return Reading(parts=(part,), left_out=(*left_out, *_aggregates(pairs)))


def _is_table(file: Given) -> bool:
    found = text(file)
    return not found.lstrip().startswith(("{", "[")) and _COLUMN in found


def _rows(file: Given, left_out: list[str]) -> list[Entry]:
    if _is_table(file):
        found = list(_printed(file, left_out))
    else:
        top = Entry.of(file, document(file))
        found = top.children("requests" if "requests" in top.value else "results")
    if not found:
        message = f"{file.name}: no requests in it"
        raise BadInputError("; ".join((message, *left_out)))
    return found


def _printed(file: Given, left_out: list[str]) -> Iterator[Entry]:
    """The rows of the printed table; a row over several runs is a sum, no generation."""
    for number, line in enumerate(text(file).splitlines(), start=1):
        path = f"line {number}"
        if (match := _ROW.match(line)) and match["repeats"]:
            left_out.append(f"{file.name}: {path}: a sum over {match['repeats'].strip()[1:]} runs")
        elif match:
            yield Entry(file=file.name, path=path, value=_numbers(match))
        elif failed := _FAILED_ROW.match(line):
            yield Entry(file=file.name, path=path, value=dict(failed.groupdict()))


def _numbers(match: re.Match[str]) -> dict[str, Json]:
    counts: dict[str, Json] = {
        key: int(match[key]) for key in ("predicted_n", "draft_n", "draft_n_accepted")
    }
    return counts | {
        "name": match["name"],
        "predicted_per_second": float(match["predicted_per_second"]),
    }


def _records(arm: str, rows: Sequence[Entry]) -> Iterator[Record]:
    for number, row in enumerate(rows, start=1):
        prompt = row.text("name") or row.text("id") or f"request-{number}"
        error, tokens = row.text("error"), row.count("predicted_n")
        if error is None and "predicted_n" not in row.value:
            row.refuse("predicted_n", "the number of generated tokens")
        accepted, wall = row.count("draft_n_accepted"), row.number("wall_s")
        yield Record(
            arm=arm,
            prompt=prompt,
            place=row.place,
            category=row.text("category"),
            reason=None if error is None else reason_of(error),
            output_tokens=tokens,
            decode_ms=row.number("predicted_ms"),
            per_second=row.number("predicted_per_second"),
            wall_ms=None if wall is None else wall * MS_PER_S,
            drafted=row.count("draft_n"),
            accepted=accepted,
            rounds=rounds(tokens, accepted),
        )


def _facts(tops: Sequence[Entry]) -> dict[str, str]:
    """What a runner wrote around the output, where all files agree; the first day of several."""
    facts: dict[str, str] = {}
    weights = {name for top in tops if (name := top.text("gguf") or top.text("model"))}
    if len(weights) == 1:
        facts |= model_facts(weights.pop())
    days = [day[0] for top in tops if (day := _DAY.match(top.text("timestamp") or "")) is not None]
    if days:
        facts["date"] = min(days)
    return facts


def _methods(tops: Sequence[tuple[str, Entry]]) -> dict[str, str]:
    """The method of each arm whose flags of llama-server are known."""
    pairs = ((arm, method_of(top.text("spec_flags") or "")) for arm, top in tops if arm != BASELINE)
    return {arm: method for arm, method in pairs if method is not None}


def _concurrency(tops: Sequence[tuple[str, Entry]]) -> dict[str, int]:
    """Requests in flight: at the top, or in the aggregate, by the version of the script."""
    found: dict[str, int] = {}
    for arm, top in tops:
        aggregate = top.child("aggregate")
        count = top.count("concurrency") or (aggregate.count("concurrency") if aggregate else None)
        if count:
            found[arm] = count
    return found


def _aggregates(pairs: Sequence[tuple[str, Given]]) -> tuple[str, ...]:
    """The summary of a file is derived, and results hold raw facts only."""
    return tuple(
        f"{file.name}: the aggregate, which follows from the requests"
        for _, file in pairs
        if b"ggregate" in file.data
    )


FORMAT = Format(
    read=read,
    signs=(frozenset({"requests", "aggregate"}), frozenset({"results", "aggregate"})),
    help="""its JSON, or the table that it prints. Has rates and counters; lacks the rest, unless
a script added `gguf`, `spec_flags` and `timestamp`.

- `--from mtp-bench off.json n2=on2.txt n3=on3.txt --map arm.n2=mtp:n_max=2
--map arm.n3=mtp:n_max=3 --map target=Qwen3.6-27B --map quantisation=Q8_0 --map backend=cuda
--map gpu="NVIDIA GeForce RTX 3090" --map date=2026-05-17 --map sampling=other`""",
)
