"""How do the answers of Spec-Bench read? One line per question, a list entry for every turn.

It takes the time from the request to the last token, the prompt included; so does the result, and
its note says so. A question of several turns is one generation; choices are repetitions.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.importers.entries import Entry, lines
from harness.importers.model import BASELINE, Format, Given, Part, Reading, Record, arms, named
from harness.importers.translate import sampling_of, task_names
from harness.importers.trials import MS_PER_S, histogram, written

NOTE = "Spec-Bench times the whole request: decode_ms includes processing the prompt"
# What the script writes in place of an answer when a turn failed; its counters are stale then.
_FAILED = "ERROR"
_TYPES = {"bfloat16": "BF16", "bf16": "BF16", "float16": "F16", "fp16": "F16", "float32": "F32",
          "fp32": "F32"}  # fmt: skip
_TEMPERATURE = re.compile(r"temp(?:erature)?-([0-9]+(?:\.[0-9]+)?)")


def read(files: Sequence[Given]) -> Reading:
    """One part; every file is an arm, the first one the baseline."""
    pairs = named(files)
    rows = [(arm, list(lines(file))) for arm, file in pairs]
    records = tuple(record for arm, found in rows for row in found for record in _records(arm, row))
    entries = [row for _, found in rows for row in found]
    part = Part(
        name="spec-bench",
        suite="spec-bench",
        facts={"engine": "Spec-Bench"} | _facts(entries) | _window(entries),
        arms=arms(records, pairs, {}),
        records=records,
        tasks=task_names("spec-bench"),
        note=NOTE,
    )
    return Reading(parts=(part,))


def _records(arm: str, row: Entry) -> Iterator[Record]:
    question = row.value.get("question_id")
    if question is None:
        row.refuse("question_id", "the number of a question")
    for choice in row.children("choices"):
        tokens, seconds = choice.counts("new_tokens"), choice.numbers("wall_time")
        if tokens is None or seconds is None or len(tokens) != len(seconds):
            choice.refuse("wall_time", "as many times as new_tokens has counts")
        failed = _FAILED in _answers(choice)
        wall_ms = _total_ms(seconds)
        output = sum(tokens) - (len(tokens) - 1)
        record = Record(
            arm=arm,
            prompt=f"question-{question}",
            place=choice.place,
            category=row.text("category"),
            reason="other" if failed else None,
            output_tokens=output if output > 0 else None,
            decode_ms=wall_ms,
            wall_ms=wall_ms,
        )
        yield record if arm == BASELINE or failed else _counted(record, choice)


def _counted(record: Record, choice: Entry) -> Record:
    """With the rounds: `accept_lengths` has an entry for each, the target's own token included."""
    lengths = choice.counts("accept_lengths")
    if not lengths or min(lengths) < 1 or record.output_tokens is None:
        return record
    accepted = sum(lengths) - len(lengths)
    if record.output_tokens != 1 + accepted + len(lengths):
        # The first round of a turn may hold its first token; then only the rounds are certain.
        return replace(record, rounds=len(lengths))
    counted = histogram([length - 1 for length in lengths])
    return replace(record, rounds=len(lengths), accepted=accepted, accepted_histogram=counted)


def _total_ms(seconds: Sequence[float | None]) -> float | None:
    """The time of all turns; unknown if that of one is (the script writes NaN where it failed)."""
    known = [each for each in seconds if each is not None]
    return sum(known) * MS_PER_S if len(known) == len(seconds) else None


def _answers(choice: Entry) -> list[object]:
    turns = choice.value.get("turns")
    return list(turns) if isinstance(turns, list) else []


def _facts(rows: Sequence[Entry]) -> dict[str, str]:
    """Weights and temperature, as far as the ids of the models name them, and all alike."""
    names = {name for row in rows if (name := row.text("model_id"))}
    kinds = {next((k for sign, k in _TYPES.items() if sign in name), None) for name in names}
    heats = {float(m[1]) if (m := _TEMPERATURE.search(name)) else None for name in names}
    facts: dict[str, str] = {}
    if len(kinds) == 1 and None not in kinds:
        facts["quantisation"] = str(kinds.pop())
    if len(heats) == 1 and None not in heats:
        facts |= sampling_of(heats.pop())
    return facts


def _window(rows: Sequence[Entry]) -> dict[str, str]:
    """The moment of the first answer; the time of a line is that of its end."""
    moments = [moment for row in rows if (moment := row.moment("tstamp"))]
    return {"measured_from": written(min(moments))} if moments else {}


FORMAT = Format(
    read=read,
    signs=(frozenset({"question_id", "choices"}),),
    help="""the answers of Spec-Bench. Has tasks, rounds and the time of whole requests, the
prompt included; lacks drafted tokens, model, machine and method.

- `--from spec-bench vanilla.jsonl medusa=m.jsonl --map arm.medusa=other:name=medusa
--map target=vicuna-7b-v1.3 --map backend=cuda --map gpu="NVIDIA A100"`""",
)
