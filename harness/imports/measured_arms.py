"""Read the requests of each arm from the logs or answers of servers and tools.

Known forms are in `schemas/vocabulary/server_log.toml`. Requests at the same position in each file
must have the same prompt.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import BadInputError
from harness.imports.arm_methods import method_of
from harness.imports.foreign_names import id_of, target_facts
from harness.imports.forms import Found, repeats
from harness.imports.needed_facts import ImportedFacts, RateCounts, agreed
from harness.imports.one_run import require_one_run, used
from harness.imports.printed import StatedText, stated
from harness.imports.source_files import BASELINE, Given, given, wrong
from harness.imports.trials import rate_counts

_LEFT_OUT = (
    "texts, and rates, because they follow from times and tokens",
    "the statistics lines, because they are sums over all requests of a server",
)
_SAME_PROMPTS = (
    "send each server the same prompts in the same order, without the prompt cache, and give "
    "only the lines of these requests"
)
_PAGE = "paste the text into the page 'Why is it slower?', which can read it"
_UNKNOWN = (
    "the file has no line 'eval time = … ms / … tokens'; give the log of llama-server or "
    "llama-cli, or answers with timings"
)
# `build: 10068 (abc1234)`, `build_info: b10068-abc1234`, `"system_fingerprint":"b10068-abc1234"`.
_BUILD = re.compile(
    r"(?:\bbuild(?:_info)?|system_fingerprint\")\s*[:=]\s*\"?b?(?P<build>[0-9]{3,6})"
    r"(?:[- (]+(?P<commit>[0-9a-f]{7,40}))?"
)
_MODEL = re.compile(r"loading model\s{0,9}[:']?\s{0,9}'?(?P<path>[^'\n]{1,999}\.gguf)")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredArms:
    """The requests of one machine, one target and one baseline, in the order of the files.

    `requests` has an arm, the position of the prompt, and the request. `methods` has each arm's
    method, written as for `--map method=`; `None` means unknown. `left_out` has a line for each
    kind of data that a result cannot store. `source` is the id of the tool or engine.
    """

    source: str
    requests: Sequence[tuple[str, int, Found]]
    methods: Mapping[str, str | None]
    facts: ImportedFacts
    left_out: Sequence[str]


def read(files: Sequence[Given]) -> MeasuredArms:
    """Read the files: each is an arm, and the first is the baseline unless another is marked.

    Raises `BadInputError` for a file that cannot be imported, saying what can read it, and for
    files that do not have the same prompts.
    """
    _require_different(files)
    left_out, cached, arms = [*_LEFT_OUT], set[int](), _by_arm(files)
    texts = [stated(file) for _, file in arms]
    by_file: list[list[Found]] = []
    for (_, file), text in zip(arms, texts, strict=True):
        left_out += _unread(file.name, text)
        own = requests_of(file, text)
        if by_file and len(own) != len(by_file[0]):  # requests are paired by position
            fault = f"the file has {len(own)} requests, but {files[0].name} has {len(by_file[0])}"
            raise wrong(file.name, fault, _SAME_PROMPTS)
        again = [at for at, is_repeat in enumerate(repeats(own)) if is_repeat]
        cached.update(again)
        repeated = "a repeated request, whose prompt was in the cache"
        left_out += (f"{own[at].place}: {repeated}" for at in again)
        by_file.append(own)
    named = [arm for arm, _ in arms]
    requests = [
        (arm, at, each)
        for arm, own in zip(named, by_file, strict=True)
        for at, each in enumerate(own, 1)
        if at - 1 not in cached
    ]
    if not requests:
        raise wrong(files[0].name, "every request took its prompt from the cache", _SAME_PROMPTS)
    _check(requests)
    form = requests[0][2].form
    return MeasuredArms(
        source=id_of(form.tool or form.engine or form.of),
        requests=requests,
        methods=_methods(named, texts),
        facts=_facts(files, texts, [each for _, _, each in requests]),
        left_out=left_out,
    )


def looks_like(path: Path) -> str | None:
    """Say which command or page reads a file of another tool; `None` if none does."""
    try:
        file = given(path)
        found = stated(file).found
    except BadInputError:
        return None
    if any(each.is_request for each in found):
        reads = "`python -m harness import` in a checkout makes a result of it"
    elif used(found):
        reads = "the page 'Why is it slower?' reads it"
    else:
        return None
    return f"it looks like {found[0].form.of}: {reads}"


def _require_different(files: Sequence[Given]) -> None:
    """Raise `BadInputError` for equal files: a run would be compared with itself."""
    seen: dict[bytes, str] = {}
    for file in files:
        if file.data in seen:
            fault = f"this file has the same records as {seen[file.data]}"
            raise wrong(file.name, fault, "give each run once")
        seen[file.data] = file.name


def _by_arm(files: Sequence[Given]) -> list[tuple[str, Given]]:
    """Return each file with its arm: from `ARM=FILE`, else named after the file.

    Several files of the same arm are repetitions.
    """
    has_baseline = any(file.arm == BASELINE for file in files)
    if files[0].arm and not has_baseline:
        remedy = f"mark the baseline's file with {BASELINE}=FILE"
        raise wrong(files[0].name, "none of the files is the baseline", remedy)
    return [
        (file.arm or (BASELINE if number == 0 and not has_baseline else id_of(file.stem)), file)
        for number, file in enumerate(files)
    ]


def requests_of(file: Given, text: StatedText) -> list[Found]:
    """Return the whole requests of a file, of which this is the text.

    Raises `BadInputError` if there is none, or if they are of several runs.
    """
    requests = [each for each in text.found if each.is_request]
    if not requests:
        raise wrong(file.name, _lacking(file, text.found))
    require_one_run(file.name, text.found)
    for each in requests:
        accepted, tokens = each.number("accepted") or 0.0, each.number("tokens") or 0.0
        if each.number("rounds") is None and accepted > tokens:
            raise wrong(each.place, "more tokens were accepted than written", "give a whole log")
    return requests


def _lacking(file: Given, found: Sequence[Found]) -> str:
    """Explain why a file without a whole request cannot be imported, and what can read it."""
    if not found:
        is_own = b'"draftmap-submission"' in file.data
        return "a result of this project, which needs no import" if is_own else _UNKNOWN
    forms = ", ".join(dict.fromkeys(each.form.of for each in found))
    prints = dict.fromkeys(each.form.prints for each in found if each.form.prints)
    remedy = "; ".join((_PAGE, *prints)) if used(found) else "give the whole log"
    return (
        f"{forms}: no request is complete with its tokens and time, which a result needs; {remedy}"
    )


def _check(requests: Sequence[tuple[str, int, Found]]) -> None:
    """Raise `BadInputError` if the baseline drafted, or prompts of a position differ in length."""
    base = {at: each for arm, at, each in requests if arm == BASELINE and each.prompt_tokens}
    for arm, at, each in requests:
        expected = base.get(at, each).prompt_tokens
        if each.prompt_tokens and each.prompt_tokens != expected:
            fault = (
                f"the prompt has {each.prompt_tokens} tokens, but the baseline's request {at} has "
                f"{expected}; the files do not have the same prompts in the same order"
            )
            raise wrong(each.place, fault, _SAME_PROMPTS)
        if arm == BASELINE and each.drafted:
            fault = f"{each.drafted:g} tokens were drafted, but this file is the baseline"
            remedy = "give the baseline's file first, or name the arms: baseline=FILE mtp=FILE"
            raise wrong(each.place, fault, remedy)


def _unread(name: str, text: StatedText) -> list[str]:
    """Name the lines of a log that are recognised, but not read."""
    unread = (f"line {number} ({form.of})" for number, form in text.unread)
    lines = [f"{name}: {line} is incomplete, or in an unknown form" for line in unread]
    return lines + [f"{name}: {of}, with lines from two models" for of in sorted(text.models)]


def _methods(arms: Sequence[str], texts: Sequence[StatedText]) -> Mapping[str, str | None]:
    """Return each arm's method; some logs name the types of draft, one line for each type."""
    known: dict[str, str | None] = dict.fromkeys(arms)
    for arm, text in zip(arms, texts, strict=True):
        kinds = dict.fromkeys(each.figures.get("kind") for each in text.found)
        known[arm] = method_of(str(kind) for kind in kinds if kind) or known[arm]
    return known


def _facts(
    files: Sequence[Given], texts: Sequence[StatedText], requests: Sequence[Found]
) -> ImportedFacts:
    """Return engine, build, model and concurrency, each only if all files that name it agree."""
    builds = [match for file in files if (match := _BUILD.search(file.text))]
    models = [match for file in files if (match := _MODEL.search(file.text))]
    build = agreed(match["build"] for match in builds)
    engines = {each.form.engine for text in texts for each in text.found}
    is_timed = any(each.number("ms") is not None for each in requests)
    counts: RateCounts | None = agreed(map(rate_counts, requests)) if is_timed else "steps"
    return target_facts(agreed(match["path"] for match in models)) | ImportedFacts(
        build=int(build) if build else None,
        engine_commit=agreed(match["commit"] for match in builds),
        engine=engines.pop() if len(engines) == 1 else None,
        concurrency=agreed(each.count("at_once") for each in requests),
        rate_counts=counts,
    )
