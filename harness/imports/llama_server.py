"""Import requests from the log or answers of a server or tool, in any form in `server_log.toml`.

Known forms are llama-server's log, answers with `timings`, llama-cli, mtp-bench.py, Ollama, LM
Studio and others. Requests at the same position in each file must have the same prompt.
"""

import re
from collections.abc import Mapping, Sequence

from harness.imports.arm_methods import method_of
from harness.imports.foreign_names import target_facts
from harness.imports.forms import Found, repeats
from harness.imports.json_values import MS_PER_S
from harness.imports.needed_facts import ImportedFacts, RateCounts, agreed
from harness.imports.one_run import is_one_run, used
from harness.imports.printed import StatedText, stated
from harness.imports.records import SAME_PROMPTS, Format, ParsedFiles, Part, Record, by_arm
from harness.imports.source_files import BASELINE, Given, wrong
from harness.imports.trials import rate_counts

_LEFT_OUT = (
    "texts, and rates, because they follow from times and tokens",
    "the statistics lines, because they are sums over all requests of a server",
)
_WHOLE = "give each run its own file"
# `build: 10068 (abc1234)`, `build_info: b10068-abc1234`, `"system_fingerprint":"b10068-abc1234"`.
_BUILD = re.compile(
    r"(?:\bbuild(?:_info)?|system_fingerprint\")\s*[:=]\s*\"?b?(?P<build>[0-9]{3,6})"
    r"(?:[- (]+(?P<commit>[0-9a-f]{7,40}))?"
)
_MODEL = re.compile(r"loading model\s{0,9}[:']?\s{0,9}'?(?P<path>[^'\n]{1,999}\.gguf)")


def read(files: Sequence[Given]) -> ParsedFiles:
    """Read the files as one measurement: each file is an arm, and the first is the baseline."""
    left_out, cached, arms = [*_LEFT_OUT], set[int](), by_arm(files)
    texts = [stated(file) for file in files]
    by_file: list[list[Record]] = []
    for (arm, file), text in zip(arms, texts, strict=True):
        left_out += _unread(file.name, text)
        if reason := lacking(text.found):
            raise wrong(file.name, reason)
        if not is_one_run(text.found):
            raise wrong(file.name, "the file has figures of several runs", _WHOLE)
        requests = [each for each in text.found if each.is_request]
        for each in requests:
            accepted, tokens = each.number("accepted") or 0.0, each.number("tokens") or 0.0
            if each.number("rounds") is None and accepted > tokens:
                raise wrong(each.place, "more tokens were accepted than written", _WHOLE)
        if by_file and len(requests) != len(by_file[0]):  # requests are paired by position
            fault = (
                f"the file has {len(requests)} requests, but {files[0].name} has {len(by_file[0])}"
            )
            raise wrong(file.name, fault, SAME_PROMPTS)
        again = [at for at, is_repeat in enumerate(repeats(requests)) if is_repeat]
        cached.update(again)
        repeated = "a repeated request, whose prompt was in the cache"
        left_out += (f"{requests[at].place}: {repeated}" for at in again)
        by_file.append([_record(arm, at, each) for at, each in enumerate(requests, 1)])
    records = tuple(each for own in by_file for at, each in enumerate(own) if at not in cached)
    if not records:
        raise wrong(files[0].name, "every request took its prompt from the cache", SAME_PROMPTS)
    counts: RateCounts | None = agreed(map(rate_counts, by_file))
    is_timed = any(each.decode_ms is not None for each in records)
    part = Part(
        name="llama-server",
        suite="llama-server",
        facts=_facts(files, texts, counts if is_timed else "steps"),
        methods=_methods([arm for arm, _ in arms], texts),
        records=records,
    )
    return ParsedFiles([part], left_out)


def _unread(name: str, text: StatedText) -> list[str]:
    """Name the lines of a log that are recognised, but not read."""
    unread = (f"line {number} ({form.of})" for number, form in text.unread)
    lines = [f"{name}: {line} is incomplete, or in an unknown form" for line in unread]
    return lines + [f"{name}: {of}, with lines from two models" for of in sorted(text.models)]


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
    remedy = "paste the text into the page 'Why is it slower?', which can read it"
    return (
        f"{forms}: no request is complete with its tokens and time, which a result needs; "
        f"{remedy if used(found) else 'give the whole log'}"
    )


def _record(arm: str, position: int, found: Found) -> Record:
    number, count, tokens = found.number, found.count, found.count("tokens")
    read, prompt_rate, took_ms = count("prompt_tokens"), number("prompt_rate"), number("took_ms")
    took_rate = tokens / took_ms * MS_PER_S if tokens and took_ms else None
    prompt_ms = read / prompt_rate * MS_PER_S if read and prompt_rate else None
    accepted, drafted = count("accepted"), None if found.drafted is None else int(found.drafted)
    if drafted is None and arm != BASELINE and found.is_silent:
        drafted = accepted = 0  # the server omits the counts if it drafted nothing
    return Record(
        arm=arm,
        prompt=f"request-{position}",
        place=found.place,
        prompt_tokens=None if read is None else read + (count("cached") or 0),
        prompt_ms=prompt_ms if number("prompt_ms") is None else number("prompt_ms"),
        output_tokens=tokens,
        decode_ms=number("ms"),
        per_second=took_rate if number("rate") is None else number("rate"),
        drafted=drafted,
        accepted=accepted,
        finish=found.finish,
    )


def _methods(arms: Sequence[str], texts: Sequence[StatedText]) -> Mapping[str, str | None]:
    """Return each arm's method; some logs name the types of draft, one line for each type."""
    known: dict[str, str | None] = dict.fromkeys(arms)
    for arm, text in zip(arms, texts, strict=True):
        kinds = dict.fromkeys(each.figures.get("kind") for each in text.found)
        known[arm] = method_of(str(kind) for kind in kinds if kind) or known[arm]
    return known


def _facts(
    files: Sequence[Given], texts: Sequence[StatedText], counts: RateCounts | None
) -> ImportedFacts:
    """Return engine, build and model, each only if all logs that name it agree."""
    builds = [match for file in files if (match := _BUILD.search(file.text))]
    models = [match for file in files if (match := _MODEL.search(file.text))]
    build = agreed(match["build"] for match in builds)
    engines = {each.form.engine for text in texts for each in text.found}
    return target_facts(agreed(match["path"] for match in models)) | ImportedFacts(
        build=int(build) if build else None,
        engine_commit=agreed(match["commit"] for match in builds),
        engine=engines.pop() if len(engines) == 1 else None,
        rate_counts=counts,
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
