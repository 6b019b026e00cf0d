"""Import requests from the log or answers of a server or tool, in any form in `server_log.toml`.

Known forms are llama-server's log, answers with `timings`, llama-cli, mtp-bench.py, Ollama, LM
Studio and others. Requests at the same position in each file must have the same prompt.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from harness.errors import BadInputError
from harness.imports.arm_methods import method_of
from harness.imports.foreign_names import target_facts
from harness.imports.forms import Found, repeats, stated
from harness.imports.json_values import MS_PER_S
from harness.imports.needed_facts import ImportedFacts, RateCounts, agreed
from harness.imports.records import Format, ParsedFiles, Part, Record, arms, by_arm
from harness.imports.source_files import BASELINE, Given, text
from harness.imports.trials import rate_counts

_SAME = (
    "send each server the same prompts in the same order, without the prompt cache, and give "
    "only the lines of these requests"
)
_LEFT_OUT = (
    "texts, and rates, because they follow from times and tokens",
    "the statistics lines, because they are sums over all requests of a server",
)
# `build: 10068 (abc1234)`, `build_info: b10068-abc1234`, `"system_fingerprint":"b10068-abc1234"`.
_BUILD = re.compile(
    r"(?:\bbuild(?:_info)?|system_fingerprint\")\s*[:=]\s*\"?b?(?P<build>[0-9]{3,6})"
    r"(?:[- (]+(?P<commit>[0-9a-f]{7,40}))?"
)
_MODEL = re.compile(r"loading model\s{0,9}[:']?\s{0,9}'?(?P<path>[^'\n]{1,999}\.gguf)")


class _Source(NamedTuple):
    """An arm's file: everything stated in it, its requests, and a line for each kind left out."""

    arm: str
    file: Given
    found: Sequence[Found]
    records: list[Record]
    left_out: list[str]


def read(files: Sequence[Given]) -> ParsedFiles:
    """Read the files as one measurement: each file is an arm, and the first is the baseline."""
    sources = [_source(arm, file) for arm, file in by_arm(files)]
    first, expected = files[0].name, len(sources[0].records)
    for source in sources:  # requests are paired by position
        if len(source.records) != expected:
            raise BadInputError(
                f"{source.file.name} has {len(source.records)} requests, but {first} has "
                f"{expected}; {_SAME}"
            )
    cached = {each.prompt for source in sources for each in source.records if each.is_repeat}
    records = tuple(
        each for source in sources for each in source.records if each.prompt not in cached
    )
    if not records:
        raise BadInputError(f"{first}: every request took its prompt from the cache; {_SAME}")
    part = Part(
        name="llama-server",
        suite="llama-server",
        facts=_facts(sources, is_timed=any(each.decode_ms is not None for each in records)),
        arms=arms(
            records,
            (source.arm for source in sources),
            remedy=_SAME,
            methods=_methods(sources),
        ),
        records=records,
    )
    left_out = (line for source in sources for line in source.left_out)
    return ParsedFiles(parts=(part,), left_out=(*_LEFT_OUT, *left_out))


def _source(arm: str, file: Given) -> _Source:
    found, unread, models = stated(file)
    left_out = [
        f"{file.name}: line {number} ({form.of}) is incomplete, or in an unknown form"
        for number, form in unread
    ]
    left_out += (f"{file.name}: {of}, with lines from two models" for of in sorted(models))
    if reason := lacking(found):
        raise BadInputError(f"{file.name}: {reason}")
    records, requests = list[Record](), [each for each in found if each.is_request]
    for number, (each, is_repeat) in enumerate(zip(requests, repeats(requests), strict=True), 1):
        if is_repeat:
            left_out.append(f"{each.place}: a repeated request, whose prompt was in the cache")
        records.append(_record(arm, f"request-{number}", each, is_repeat=is_repeat))
    return _Source(arm, file, found, records, left_out)


def lacking(found: Sequence[Found]) -> str | None:
    """Explain why a file with these values cannot be imported; `None` if it has a whole request."""
    if any(each.is_request for each in found):
        return None
    if not found:
        return (
            "the file has no line 'eval time = … ms / … tokens'; give the log of llama-server or "
            "llama-cli, or answers with timings"
        )
    forms = ", ".join(dict.fromkeys(each.form.of for each in found))
    return (
        f"{forms}: no request is complete with its tokens and time, which a result needs; paste "
        "the text into the page 'Why is it slower?', which can read it"
    )


def _record(arm: str, prompt: str, found: Found, *, is_repeat: bool) -> Record:
    number, count, tokens = found.number, found.count, found.count("tokens")
    rate, took_ms = number("rate"), number("took_ms")
    if rate is None and tokens and took_ms:
        rate = tokens / took_ms * MS_PER_S
    read, prompt_rate = count("prompt_tokens"), number("prompt_rate")
    prompt_ms, accepted = number("prompt_ms"), count("accepted")
    if prompt_ms is None and read and prompt_rate:
        prompt_ms = read / prompt_rate * MS_PER_S
    drafted, rejected = count("drafted"), count("rejected")
    if drafted is None and accepted is not None and rejected is not None:
        drafted = accepted + rejected
    if drafted is None and arm != BASELINE and found.form.silent:
        drafted = accepted = 0  # the server omits the counts if it drafted nothing
    return Record(
        arm=arm,
        prompt=prompt,
        place=found.place,
        prompt_tokens=None if read is None else read + (count("cached") or 0),
        prompt_ms=prompt_ms,
        output_tokens=tokens,
        decode_ms=number("ms"),
        per_second=rate,
        drafted=drafted,
        accepted=accepted,
        finish=found.finish,
        is_repeat=is_repeat,
    )


def _methods(sources: Sequence[_Source]) -> dict[str, str]:
    """Return the method of each arm whose log names the draft types, one line for each type."""
    known: dict[str, str] = {}
    for source in sources:
        kinds = dict.fromkeys(each.figures.get("kind") for each in source.found)
        if method := method_of(str(kind) for kind in kinds if kind):
            known[source.arm] = method
    return known


def _facts(sources: Sequence[_Source], *, is_timed: bool) -> ImportedFacts:
    """Return engine, build and model, each only if all logs that name it agree."""
    texts = [text(source.file) for source in sources]
    builds = [match for each in texts if (match := _BUILD.search(each))]
    models = [match for each in texts if (match := _MODEL.search(each))]
    build = agreed(match["build"] for match in builds)
    engines = {each.form.engine for source in sources for each in source.found}
    counts: RateCounts | None = agreed(rate_counts(source.records) for source in sources)
    return target_facts(agreed(match["path"] for match in models)) | ImportedFacts(
        build=int(build) if build else None,
        engine_commit=agreed(match["commit"] for match in builds),
        engine=engines.pop() if len(engines) == 1 else None,
        rate_counts=counts if is_timed else "steps",
    )


FORMAT = Format(
    read=read,
    signs=(
        frozenset({"timings", "choices"}),
        frozenset({"timings", "content"}),
        frozenset({"predicted_n", "predicted_ms", "prompt_n"}),
        frozenset({"eval_count", "eval_duration"}),
        frozenset({"stats", "usage"}),
    ),
    help="""the server's log, or its answers with `timings`. Output and answers from llama-cli,
llama-speculative, mtp-bench.py, Ollama, LM Studio, KoboldCpp, TabbyAPI and mlx_lm work too. All
files must have the same prompts in the same order. Requests that repeat a cached prompt are left
out. The files have times, and counters if the tool states them, but no tasks, machine, sampling or
day.

- `--from llama-server off.log on.log --map n_max=2 --map quantisation=Q4_K_M
--map target=Qwen3.8-27B --map backend=cuda --map gpu="NVIDIA GeForce RTX 3090"
--map date=2026-08-15 --map sampling=greedy`""",
)
