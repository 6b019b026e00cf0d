"""How does the output of llama.cpp's speed-bench read? One file per server, `results[]` of samples.

A sample of several turns is one generation here: times and tokens are sums over the turns, and
each turn has a first token of its own, which prompt processing yields.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

from harness.importers.entries import Entry, document
from harness.importers.model import Format, Given, Part, Reading, Record, arms, named
from harness.importers.translate import id_of, reason_of, sampling_of, task_names
from harness.importers.trials import MS_PER_S, rounds


def read(files: Sequence[Given]) -> Reading:
    """One part; every file is an arm, the first one the baseline."""
    pairs = named(files)
    tops = [(arm, Entry.of(file, document(file))) for arm, file in pairs]
    records = tuple(record for arm, top in tops for record in _records(arm, top))
    concurrency = {arm: count for arm, top in tops if (count := _concurrency(top)) is not None}
    benches = {bench for _, top in tops if (bench := _config(top).text("bench"))}
    if len(benches) > 1:
        tops[-1][1].refuse("config", "the same bench in all files")
    part = Part(
        name="speed-bench",
        suite=id_of("-".join(("speed-bench", *benches))),
        facts=_facts([top for _, top in tops]),
        arms=arms(records, pairs, concurrency),
        records=records,
        tasks=task_names("speed-bench"),
    )
    return Reading(parts=(part,))


def _records(arm: str, top: Entry) -> Iterator[Record]:
    for row in top.children("results"):
        prompt = row.text("id")
        if prompt is None:
            row.refuse("id", "the name of a sample")
        if row.value.get("ok") is not True:
            reason = reason_of(row.text("error"))
            category = row.text("category")
            yield Record(arm=arm, prompt=prompt, place=row.place, category=category, reason=reason)
        else:
            yield _finished(arm, prompt, row)


def _finished(arm: str, prompt: str, row: Entry) -> Record:
    tokens, turns = row.count("completion_tokens"), row.count("turns") or 1
    output = tokens - (turns - 1) if tokens is not None and tokens >= turns else None
    decode = row.number("predicted_ms")
    # The tool writes 0 drafts for a server that reports no timings at all.
    timed = decode is not None
    accepted = row.count("draft_n_accepted") if timed else None
    latency = row.number("latency_s")
    return Record(
        arm=arm,
        prompt=prompt,
        place=row.place,
        category=row.text("category"),
        # Of several turns, the prompt grows with the answers.
        prompt_tokens=row.count("prompt_tokens") if turns == 1 else None,
        prompt_ms=row.number("prompt_ms"),
        output_tokens=output,
        decode_ms=decode,
        wall_ms=None if latency is None else latency * MS_PER_S,
        drafted=row.count("draft_n") if timed else None,
        accepted=accepted,
        rounds=rounds(output, accepted),
        finish=_finish(row.text("finish_reason")),
    )


def _finish(reason: str | None) -> Literal["length", "stop"] | None:
    match reason:
        case "length":
            return "length"
        case "stop":
            return "stop"
        case _:
            return None


def _config(top: Entry) -> Entry:
    return top.child("config") or top.refuse("config", "the configuration of the run")


def _concurrency(top: Entry) -> int | None:
    return _config(top).count("concurrency")


def _facts(tops: Sequence[Entry]) -> dict[str, str]:
    """What the configurations say: the longest output and whether it was greedy."""
    facts = {"engine": "llama.cpp"}
    limits = {limit for top in tops if (limit := _config(top).count("osl")) is not None}
    turns = max(
        (row.count("turns") or 1 for top in tops for row in top.children("results")), default=1
    )
    if len(limits) == 1:
        facts["max_output_tokens"] = str(limits.pop() * turns)
    extra = [_config(top).child("extra_inputs") for top in tops]
    temperatures = {each.number("temperature") for each in extra if each is not None}
    if len(temperatures) == 1 and None not in temperatures and all(extra):
        facts |= sampling_of(temperatures.pop())
    return facts


FORMAT = Format(
    read=read,
    signs=(frozenset({"config", "results", "summary"}),),
    help="""what llama.cpp's `speed_bench.py --output` saves, one file per server. Has tasks,
times, counters, length and sampling; lacks model, machine, method and day.

- `--from speed-bench off.json on.json --map method=mtp:n_max=3 --map facts.toml`""",
)
