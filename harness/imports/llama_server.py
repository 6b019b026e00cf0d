"""Import llama-server's log, or answers with `timings` (pasted, a list, one a line, streamed).

llama-cli and llama-speculative print about the same. Requests are paired by their position.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from harness.errors import BadInputError
from harness.imports.arm_methods import method_of
from harness.imports.counting import rate_counts, rounds
from harness.imports.json_lines import is_stream, last_chunks, lines
from harness.imports.json_object import MS_PER_S, JsonObject
from harness.imports.names import finish_of, target_facts
from harness.imports.needed_facts import ImportedFacts, agreed
from harness.imports.records import Format, ParsedFiles, Part, Record, arms, require_same_prompts
from harness.imports.source_files import BASELINE, Given, by_arm, text
from schemas.vocabulary.documents import document

_LINES = {name: re.compile(pattern) for name, pattern in document("server_log").items()}
_SAME = (
    "send each server the same prompts in the same order, without the prompt cache, and give those "
    "lines only"
)
_EXPECTED = "give the log of llama-server or llama-cli, or answers with timings"
# `build: 10068 (abc1234)`, `build_info: b10068-abc1234`, `"system_fingerprint":"b10068-abc1234"`.
_BUILD = re.compile(
    r"(?:\bbuild(?:_info)?|system_fingerprint\")\s*[:=]\s*\"?b?(?P<build>[0-9]{3,6})"
    r"(?:[- (]+(?P<commit>[0-9a-f]{7,40}))?"
)
_MODEL = re.compile(r"loading model\s{0,9}[:']?\s{0,9}'?(?P<path>[^'\n]{1,999}\.gguf)")


def read(files: Sequence[Given]) -> ParsedFiles:
    """One part; every file is an arm, the first one the baseline."""
    pairs = by_arm(files)
    parsed = [(file, requests_of(file, arm)) for arm, file in pairs]
    first, expected = parsed[0]
    for file, requests in parsed:  # requests are paired by position
        if len(requests) != len(expected):
            message = (
                f"{file.name}: {len(requests)} requests, {first.name} has {len(expected)}; {_SAME}"
            )
            raise BadInputError(message)
    records = tuple(record for _, records in parsed for record in records)
    require_same_prompts(records, _SAME)
    part = Part(
        name="llama-server",
        suite="llama-server",
        facts=_facts([file for _, file in pairs])
        | ImportedFacts(rate_counts=agreed(rate_counts(records) for _, records in parsed)),
        arms=arms(records, pairs, {}, _methods(pairs)),
        records=records,
    )
    left_out = (
        "texts, and rates, which follow from times and tokens",
        "the statistics lines, which sum over all requests of a server",
    )
    return ParsedFiles(parts=(part,), left_out=left_out)


def requests_of(file: Given, arm: str = BASELINE) -> list[Record]:
    """Every request, in order; `serverlog.js` reads the same. Raises `BadInputError` if none."""
    if is_stream(file):
        file = last_chunks(file)
    found = list(_logged(file) if _is_log(file) else map(_answered, lines(file)))
    if not found:
        message = f"{file.name}: no line 'eval time = … ms / … tokens' in it; {_EXPECTED}"
        raise BadInputError(message)
    return [_completed(arm, number, each) for number, each in enumerate(found, start=1)]


def _completed(arm: str, number: int, request: Record) -> Record:
    drafted, accepted = request.drafted, request.accepted
    if drafted is None and arm != BASELINE:
        drafted = accepted = 0  # the server says nothing of drafts where it drafted nothing
    return replace(
        request,
        arm=arm,
        prompt=f"request-{number}",
        drafted=drafted,
        accepted=accepted,
        rounds=rounds(request.output_tokens, accepted),
    )


def _is_log(file: Given) -> bool:
    found = text(file)
    if is_stream(file) or _LINES["json"].match(found) is None:
        return not is_stream(file)
    # The lines of a log, each wrapped in JSON by a container or by `--log-format json`.
    return '"predicted_n"' not in found and _LINES["answer"].search(found) is not None


@dataclass(slots=True, kw_only=True)
class _LoggedRequest:
    """The lines of one request of a log, as far as they were read."""

    line: int
    prompt: re.Match[str] | None = None
    answer: re.Match[str] | None = None
    drafts: re.Match[str] | None = None


def _logged(file: Given) -> list[Record]:
    """One request for each `eval time` line, with the lines of the prompt and the drafts around.

    Lines of several slots may alternate; a line that names no task belongs to the one before it.
    """
    if _LINES["decoded"].search(text(file)):
        return list(_speculated(file))
    requests: list[_LoggedRequest] = []
    tasks: dict[str, _LoggedRequest] = {}
    early: dict[str, re.Match[str]] = {}
    task = ""
    for number, line in enumerate(text(file).splitlines(), start=1):
        task = match[0] if (match := _LINES["slot"].search(line)) else task
        printed = tasks.get(task)
        if prompt := _LINES["prompt"].search(line):
            drafts = early.pop(task, None)
            printed = tasks[task] = _LoggedRequest(line=number, prompt=prompt, drafts=drafts)
            requests.append(printed)
        elif answer := _LINES["answer"].search(line):
            if printed is None:
                printed = tasks[task] = _LoggedRequest(line=number, drafts=early.pop(task, None))
                requests.append(printed)
            printed.line, printed.answer = number, answer
        elif drafts := _LINES["drafts"].search(line):
            if printed and printed.drafts is None:
                printed.drafts = drafts
            else:  # printed before the times of its request
                early[task] = drafts
    return [_of_log(file.name, request, request.answer) for request in requests if request.answer]


def _speculated(file: Given) -> Iterator[Record]:
    """One request for each `decoded` line. Its time begins before the first token: a step more."""
    encoded, *parts = re.split(r"(?=\bdecoded)", text(file))
    for part in parts:
        answer, prompt = _LINES["decoded"].search(part), _LINES["encoded"].search(encoded)
        sums = {match["name"]: int(match["value"]) for match in _LINES["sums"].finditer(part)}
        if answer:
            yield Record(
                arm=BASELINE,
                prompt="",
                place=f"{file.name}: {answer[0]}",
                prompt_tokens=int(prompt["tokens"]) if prompt else None,
                prompt_ms=float(prompt["seconds"]) * MS_PER_S if prompt else None,
                output_tokens=int(answer["tokens"]) + 1,
                decode_ms=float(answer["seconds"]) * MS_PER_S,
                per_second=None,
                drafted=sums.get("drafted"),
                accepted=sums.get("accept"),
            )
        encoded = part


def _of_log(name: str, printed: _LoggedRequest, answer: re.Match[str]) -> Record:
    prompt, drafts = printed.prompt, printed.drafts
    return Record(
        arm=BASELINE,
        prompt="",
        place=f"{name}: line {printed.line}",
        prompt_tokens=int(prompt["tokens"]) if prompt else None,
        prompt_ms=float(prompt["ms"]) if prompt else None,
        output_tokens=int(answer["tokens"]) + bool(answer["runs"] and not answer["generation"]),
        decode_ms=float(answer["ms"]),
        per_second=float(answer["rate"]),
        drafted=int(drafts["drafted"]) if drafts else None,
        accepted=int(drafts["accepted"]) if drafts else None,
    )


def _answered(row: JsonObject) -> Record:
    if "timings" not in row.fields:  # a script may have saved the answer next to its prompt
        objects = ((key, value) for key, value in row.fields.items() if isinstance(value, dict))
        row = row.child(next((key for key, value in objects if "timings" in value), "")) or row
    found = row.child("timings") or (row if "predicted_n" in row.fields else None)
    timings = row.needed("timings", found, "the times that llama-server answers with")
    prompt, cached = timings.count("prompt_n"), timings.count("cache_n")
    return Record(
        arm=BASELINE,
        prompt="",
        place=row.place,
        prompt_tokens=None if prompt is None else prompt + (cached or 0),
        prompt_ms=timings.number("prompt_ms"),
        output_tokens=timings.count("predicted_n"),
        decode_ms=timings.number("predicted_ms"),
        per_second=timings.number("predicted_per_second"),
        drafted=timings.count("draft_n"),
        accepted=timings.count("draft_n_accepted"),
        finish=finish_of(row),
    )


def _methods(pairs: Sequence[tuple[str, Given]]) -> dict[str, str]:
    """The method of each arm whose log names the kinds of its drafts."""
    known: dict[str, str] = {}
    for arm, file in pairs:
        # A log has a line of statistics for each type of a chain.
        lines = _LINES["statistics"].finditer(text(file)) if _is_log(file) else ()
        if method := method_of(dict.fromkeys(match["kind"] for match in lines)):
            known[arm] = method
    return known


def _facts(files: Sequence[Given]) -> ImportedFacts:
    """Build and model, where all logs that name one agree."""
    texts = [text(file) for file in files]
    builds = [match for each in texts if (match := _BUILD.search(each))]
    build = agreed(match["build"] for match in builds)
    facts = ImportedFacts(
        engine="llama.cpp",
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
    ),
    help="""its log, or its answers with `timings`; each file with the same prompts in the
same order. Has times and counters; lacks tasks, machine, sampling and day.

- `--from llama-server off.log on.log --map n_max=2 --map quantisation=Q4_K_M
--map target=Qwen3.8-27B --map backend=cuda --map gpu="NVIDIA GeForce RTX 3090"
--map date=2026-08-15 --map sampling=greedy`""",
)
