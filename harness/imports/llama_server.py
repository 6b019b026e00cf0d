"""Import requests from the log or answers of a server or tool, in any form in `server_log.toml`.

Known forms are llama-server's log, answers with `timings`, llama-cli, mtp-bench.py, Ollama, LM
Studio and others. Requests at the same position in each file must have the same prompt.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.errors import BadInputError
from harness.imports.answers import answers
from harness.imports.arm_methods import method_of
from harness.imports.counting import rate_counts, rounds
from harness.imports.json_lines import is_stream, last_chunks, lines
from harness.imports.json_object import MS_PER_S
from harness.imports.names import target_facts
from harness.imports.needed_facts import ImportedFacts, agreed
from harness.imports.printed import TABLE, Form, Found, printed, repeats
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """Everything that a file reports, its requests, and a line for each kind of data left out."""

    found: tuple[Found, ...]
    records: tuple[Record, ...]
    left_out: tuple[str, ...]


def read(files: Sequence[Given]) -> ParsedFiles:
    """Read the files as one measurement: each file is an arm, and the first is the baseline."""
    pairs = by_arm(files)
    sources = [(file, _source(file, arm)) for arm, file in pairs]
    first, expected = sources[0]
    for file, source in sources:  # requests are paired by position
        if len(source.records) != len(expected.records):
            raise BadInputError(
                f"{file.name} has {len(source.records)} requests, but {first.name} has "
                f"{len(expected.records)}; {_SAME}"
            )
    cached = {each.prompt for _, source in sources for each in source.records if each.is_repeat}
    records = tuple(
        each for _, source in sources for each in source.records if each.prompt not in cached
    )
    if not records:
        raise BadInputError(f"{first.name}: every request took its prompt from the cache; {_SAME}")
    require_same_prompts(records, _SAME)
    engines = {each.form.engine for _, source in sources for each in source.found}
    part = Part(
        name="llama-server",
        suite="llama-server",
        facts=_facts([file for _, file in pairs])
        | ImportedFacts(
            engine=engines.pop() if len(engines) == 1 else None,
            rate_counts=agreed(rate_counts(source.records) for _, source in sources)
            if any(each.decode_ms is not None for each in records)
            else "steps",
        ),
        arms=arms(records, pairs, {}, _methods(pairs, [source for _, source in sources])),
        records=records,
    )
    left_out = (
        "texts, and rates, because they follow from times and tokens",
        "the statistics lines, because they are sums over all requests of a server",
        *(line for _, source in sources for line in source.left_out),
    )
    return ParsedFiles(parts=(part,), left_out=left_out)


def requests_of(file: Given, arm: str = BASELINE) -> list[Record]:
    """Return every request in order, the same requests as `serverlog.js`.

    Raises `BadInputError` if there is none.
    """
    return [*_source(file, arm).records]


def _source(file: Given, arm: str) -> _Source:
    if is_stream(file):
        file = last_chunks(file)
    if is_json(file):
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
    requests = [each for each in found if each.form.gives == "request" and each.number("tokens")]
    if not requests:
        raise BadInputError(f"{file.name}: {_lacks(found)}")
    records = []
    for number, (each, is_repeat) in enumerate(zip(requests, repeats(requests), strict=True), 1):
        if is_repeat:
            left_out.append(f"{each.place}: a repeated request, whose prompt was in the cache")
        record = replace(_record(each), prompt=f"request-{number}", is_repeat=is_repeat)
        records.append(_completed(arm, record, each.form))
    return _Source(found=found, records=tuple(records), left_out=tuple(left_out))


def has_requests(file: Given) -> bool:
    """Whether a file has log lines of a known form that report requests with token counts."""
    found = () if is_stream(file) or is_json(file) else printed(text(file), file.name).found
    return any(each.form.gives == "request" and each.number("tokens") for each in found)


def described(file: Given) -> str | None:
    """Explain why a log with lines of known forms cannot be imported; `None` for other files."""
    found = () if is_stream(file) or is_json(file) else printed(text(file), file.name).found
    return _lacks(found) if found else None


def _lacks(found: Sequence[Found]) -> str:
    if not found:
        return f"the file has no line 'eval time = … ms / … tokens'; {_EXPECTED}"
    forms = ", ".join(dict.fromkeys(each.form.of for each in found))
    return (
        f"{forms}: no request is complete with its tokens and time, which a result needs; paste "
        "the text into the page 'Why is it slower?', which can read it"
    )


def _completed(arm: str, request: Record, form: Form) -> Record:
    drafted, accepted = request.drafted, request.accepted
    if drafted is None and arm != BASELINE and form.silent:
        drafted = accepted = 0  # the server omits the counts if it drafted nothing
    counted = rounds(request.output_tokens, accepted)
    return replace(request, arm=arm, drafted=drafted, accepted=accepted, rounds=counted)


def is_json(file: Given) -> bool:
    """Whether a file contains answers in JSON, rather than log lines wrapped in JSON."""
    found = text(file)
    if is_stream(file) or _JSON.match(found) is None:
        return is_stream(file)
    return '"predicted_n"' in found or not any(
        each.form.gives == "request" for each in printed(found, "").found
    )


def _record(found: Found) -> Record:
    number, count, tokens = found.number, found.count, found.count("tokens")
    rate, took_ms = number("rate"), number("took_ms")
    if rate is None and tokens and took_ms:
        rate = tokens / took_ms * MS_PER_S
    prompt, prompt_rate = count("prompt_tokens"), number("prompt_rate")
    prompt_ms, accepted = number("prompt_ms"), count("accepted")
    if prompt_ms is None and prompt and prompt_rate:
        prompt_ms = prompt / prompt_rate * MS_PER_S
    drafted, rejected = count("drafted"), count("rejected")
    if drafted is None and None not in (accepted, rejected):
        drafted = (accepted or 0) + (rejected or 0)
    return Record(
        arm=BASELINE,
        prompt="",
        place=found.place,
        prompt_tokens=None if prompt is None else prompt + (count("cached") or 0),
        prompt_ms=prompt_ms,
        output_tokens=tokens,
        decode_ms=number("ms"),
        per_second=rate,
        drafted=drafted,
        accepted=accepted,
        finish=found.finish,
    )


def _methods(pairs: Sequence[tuple[str, Given]], sources: Sequence[_Source]) -> dict[str, str]:
    """Return the method of each arm whose log names the draft types."""
    known: dict[str, str] = {}
    for (arm, _), source in zip(pairs, sources, strict=True):
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
