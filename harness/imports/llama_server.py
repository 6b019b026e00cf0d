"""Import requests from the log or answers of a server or tool, in any form in `server_log.toml`.

Known forms are llama-server's log, answers with `timings`, llama-cli, mtp-bench.py, Ollama, LM
Studio and others. Requests at the same position in each file must have the same prompt.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from harness.errors import BadInputError
from harness.imports.answers import answers
from harness.imports.arm_methods import method_of
from harness.imports.counting import rate_counts
from harness.imports.json_lines import is_stream, last_chunks, lines
from harness.imports.json_object import MS_PER_S
from harness.imports.names import target_facts
from harness.imports.needed_facts import ImportedFacts, RateCounts, agreed
from harness.imports.printed import TABLE, Found, printed, repeats
from harness.imports.records import Format, ParsedFiles, Part, Record, arms, require_same_prompts
from harness.imports.source_files import BASELINE, Given, by_arm, text

_JSON = re.compile(TABLE["json"])
_SAME = (
    "send each server the same prompts in the same order, without the prompt cache, and give "
    "only the lines of these requests"
)
_EXPECTED = "give the log of llama-server or llama-cli, or answers with timings"
# `build: 10068 (abc1234)`, `build_info: b10068-abc1234`, `"system_fingerprint":"b10068-abc1234"`.
_BUILD = re.compile(
    r"(?:\bbuild(?:_info)?|system_fingerprint\")\s*[:=]\s*\"?b?(?P<build>[0-9]{3,6})"
    r"(?:[- (]+(?P<commit>[0-9a-f]{7,40}))?"
)
_MODEL = re.compile(r"loading model\s{0,9}[:']?\s{0,9}'?(?P<path>[^'\n]{1,999}\.gguf)")


class _Source(NamedTuple):
    """Everything that a file reports, its requests, and a line for each kind of data left out."""

    found: tuple[Found, ...]
    records: list[Record]
    left_out: list[str]


def read(files: Sequence[Given]) -> ParsedFiles:
    """Read the files as one measurement: each file is an arm, and the first is the baseline."""
    pairs = by_arm(files)
    sources = [(arm, _source(file, arm)) for arm, file in pairs]
    requests = [each for _, source in sources for each in source.records]
    first, expected = files[0].name, len(sources[0][1].records)
    for file, (_, source) in zip(files, sources, strict=True):  # requests are paired by position
        if len(source.records) != expected:
            raise BadInputError(
                f"{file.name} has {len(source.records)} requests, but {first} has {expected}; "
                f"{_SAME}"
            )
    cached = {each.prompt for each in requests if each.is_repeat}
    records = tuple(each for each in requests if each.prompt not in cached)
    if not records:
        raise BadInputError(f"{first}: every request took its prompt from the cache; {_SAME}")
    require_same_prompts(records, _SAME)
    engines = {each.form.engine for _, source in sources for each in source.found}
    is_timed = any(each.decode_ms is not None for each in records)
    stated: RateCounts | None = agreed(rate_counts(source.records) for _, source in sources)
    engine = engines.pop() if len(engines) == 1 else None
    part = Part(
        name="llama-server",
        suite="llama-server",
        facts=_facts(files)
        | ImportedFacts(engine=engine, rate_counts=stated if is_timed else "steps"),
        arms=arms(records, dict(pairs), methods=_methods(sources)),
        records=records,
    )
    left_out = (
        "texts, and rates, because they follow from times and tokens",
        "the statistics lines, because they are sums over all requests of a server",
        *(line for _, source in sources for line in source.left_out),
    )
    return ParsedFiles(parts=(part,), left_out=left_out)


def requests_of(file: Given, arm: str = BASELINE) -> list[Record]:
    """Return the requests that `serverlog.js` returns; raise `BadInputError` if there is none."""
    return _source(file, arm).records


def _source(file: Given, arm: str) -> _Source:
    if is_stream(file):
        file = last_chunks(file)
    if _is_json(file):
        found, left_out = tuple(each for row in lines(file) for each in answers(row)), []
    else:
        whole = printed(text(file), file.name)
        found = whole.found
        left_out = [
            f"{file.name}: line {number} ({form.of}) is incomplete, or in an unknown form"
            for number, form in whole.unread
        ]
        left_out += [
            f"{file.name}: {of}, with lines from two models" for of in sorted(whole.models)
        ]
    if reason := lacking(found):
        raise BadInputError(f"{file.name}: {reason}")
    requests = [each for each in found if each.form.gives == "request" and each.number("tokens")]
    records = []
    for number, (each, is_repeat) in enumerate(zip(requests, repeats(requests), strict=True), 1):
        if is_repeat:
            left_out.append(f"{each.place}: a repeated request, whose prompt was in the cache")
        records.append(_record(arm, f"request-{number}", each, is_repeat=is_repeat))
    return _Source(found, records, left_out)


def logged(file: Given) -> tuple[Found, ...]:
    """Return what the log lines of known forms in a file report; nothing for answers in JSON."""
    return () if _is_json(file) else printed(text(file), file.name).found


def lacking(found: Sequence[Found]) -> str | None:
    """Explain why a file with these values cannot be imported; `None` if it has a whole request."""
    if any(each.form.gives == "request" and each.number("tokens") for each in found):
        return None
    if not found:
        return f"the file has no line 'eval time = … ms / … tokens'; {_EXPECTED}"
    forms = ", ".join(dict.fromkeys(each.form.of for each in found))
    return (
        f"{forms}: no request is complete with its tokens and time, which a result needs; paste "
        "the text into the page 'Why is it slower?', which can read it"
    )


def _is_json(file: Given) -> bool:
    """Whether a file contains answers in JSON, rather than log lines wrapped in JSON."""
    found = text(file)
    if is_stream(file) or _JSON.match(found) is None:
        return is_stream(file)
    return '"predicted_n"' in found or not any(
        each.form.gives == "request" for each in printed(found, "").found
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


def _methods(sources: Sequence[tuple[str, _Source]]) -> dict[str, str]:
    """Return the method of each arm whose log names the draft types."""
    known: dict[str, str] = {}
    for arm, source in sources:
        # A log has a line of statistics for each type of a chain.
        kinds = dict.fromkeys(each.figures.get("kind") for each in source.found)
        if method := method_of(str(kind) for kind in kinds if kind):
            known[arm] = method
    return known


def _facts(files: Sequence[Given]) -> ImportedFacts:
    """Return the build and the model, each only if all logs that name it agree."""
    texts = [text(file) for file in files]
    builds = [match for each in texts if (match := _BUILD.search(each))]
    build = agreed(match["build"] for match in builds)
    facts = ImportedFacts(
        build=int(build) if build else None,
        engine_commit=agreed(match["commit"] for match in builds),
    )
    models = (match["path"] for each in texts if (match := _MODEL.search(each)))
    return facts | target_facts(agreed(models))


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
