"""Make results of parsed files and stated facts. Pure: values in, submissions out."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from harness import __version__
from harness.errors import BadInputError
from harness.importers import setting
from harness.importers.counting import utc_text
from harness.importers.facts import ImportedFacts, Missing, StatedFacts, stated_for
from harness.importers.files import BASELINE
from harness.importers.ids import ids_of
from harness.importers.left_out import LeftOut
from harness.importers.methods import method
from harness.importers.records import ArmRead, ParsedFiles, Part, Record
from harness.importers.tasks import check_tasks, task_of
from harness.importers.trials import trials
from schemas.codec import canonical_bytes, encode
from schemas.contract import findings
from schemas.submission import (
    Arm,
    Design,
    Method,
    Model,
    Origin,
    Prompt,
    Submission,
    Suite,
    Tool,
    Trial,
)

MAX_PROMPTS = 512
# A suite of another tool has no version that we could know.
NO_VERSION = "0.0.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where the records come from, and who hands them in."""

    format: str
    sha256: str
    source: str | None = None
    licence: str | None = None
    contributor: str | None = None

    def origin(self) -> Origin:
        """The source of the records, as the format has it."""
        return Origin(
            format=self.format, sha256=self.sha256, source=self.source, licence=self.licence
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The results, and what they could not hold, a line each."""

    submissions: tuple[Submission, ...]
    left_out: tuple[str, ...]


def assemble(parsed: ParsedFiles, stated: Mapping[str, str], provenance: Provenance) -> Imported:
    """One valid submission for every part. Raises `BadInputError` naming all that is missing."""
    left_out = LeftOut(parsed.left_out)
    names = [part.name for part in parsed.parts]
    made: list[Submission] = []
    wrong: list[str] = []
    for part in (piece for whole in parsed.parts for piece in _pieces(whole)):
        own, missing = stated_for(part.name, stated, names), Missing()
        check_tasks(own.tasks, _names(parsed.parts))
        submission = _submission(part, own, missing, left_out, provenance)
        if missing.keys:
            wrong.append(missing.message(part.name))
        elif submission is not None:
            made.append(submission)
    if wrong:
        raise BadInputError("\n".join(dict.fromkeys(wrong)))
    if not made:
        message = "nothing is left to import: no record has tokens and time, or failed"
        raise BadInputError("; ".join((message, *left_out.lines())))
    for each in made:
        _require_valid(each)
    return Imported(submissions=tuple(made), left_out=left_out.lines())


def _submission(
    part: Part, stated: StatedFacts, missing: Missing, left_out: LeftOut, provenance: Provenance
) -> Submission | None:
    """The submission of a part; `None` when it has no trial."""
    facts = part.facts | stated.facts
    if part.needs_concurrency and facts.concurrency is None:
        missing.add("concurrency")
    methods = {arm.name: _method(arm, stated, facts, missing) for arm in part.arms}
    arm_ids, prompt_ids = ids_of(methods), ids_of(record.prompt for record in part.records)
    known = {name: (arm_ids[name], made) for name, (made, _) in methods.items()}
    done = trials(
        part.records,
        arms=known,
        prompts=prompt_ids,
        counts=facts.rate_counts or "tokens",
        left_out=left_out,
    )
    if not done and not missing.keys:
        return None
    _require_baseline(part, done, left_out)
    began, ended = _window(part, facts, missing, done)
    return Submission(
        tier="imported",
        profile="custom",
        measured_from=began,
        measured_until=ended,
        contributor=provenance.contributor,
        tool=Tool(name="draftmap", version=__version__),
        origin=provenance.origin(),
        machine=setting.machine(facts, missing),
        engine=setting.engine(facts, missing),
        target=setting.target(facts, missing),
        drafts=tuple({draft.id: draft for _, draft in methods.values() if draft}.values()),
        settings=setting.settings(facts, missing),
        design=_design(done),
        suite=_suite(part, stated.tasks, prompt_ids, done),
        arms=tuple(_arm(arm, arm_ids, methods[arm.name][0], facts) for arm in part.arms),
        trials=done,
    )


def _suite(
    part: Part, tasks: Mapping[str, str], prompt_ids: Mapping[str, str], done: Sequence[Trial]
) -> Suite:
    """The prompts that were answered, as the suite that they are of."""
    answered = {trial.prompt for trial in done}
    asked = _prompts(part.records, prompt_ids, part.tasks, tasks)
    return Suite(
        id=part.suite,
        version=NO_VERSION,
        prompts=tuple(each for each in asked if each.id in answered),
    )


def _require_baseline(part: Part, done: Sequence[Trial], left_out: LeftOut) -> None:
    """Without one record of the baseline, even a failed one, nothing can be compared."""
    if done and all(trial.arm != BASELINE for trial in done):
        message = f"{part.name}: no record of the baseline has tokens and time: nothing to compare"
        raise BadInputError("; ".join((message, *left_out.lines())))


def _method(
    arm: ArmRead, stated: StatedFacts, facts: ImportedFacts, missing: Missing
) -> tuple[Method, Model | None]:
    """The method stated for this arm, else that of the file, else the one stated for all."""
    text = stated.methods.get(arm.name) or arm.method or facts.method
    if text is None:
        missing.add("method")
    return method(text or "other:name=unknown", facts, missing)


def _arm(arm: ArmRead, ids: Mapping[str, str], how: Method, facts: ImportedFacts) -> Arm:
    concurrency = facts.concurrency or arm.concurrency
    return Arm(
        id=ids[arm.name],
        role="baseline" if arm.name == BASELINE else "speculation",
        method=how,
        baseline=None if arm.name == BASELINE else BASELINE,
        concurrency=concurrency if concurrency != 1 else None,
        outcome="failed" if arm.reason else "ok",
        reason=arm.reason,
        placement=setting.placement(facts),
    )


def _prompts(
    records: Sequence[Record],
    ids: Mapping[str, str],
    table: Mapping[str, str],
    given: Mapping[str, str],
) -> Iterator[Prompt]:
    """Each prompt once, in the order of the files, with the length that all records agree on."""
    lengths: dict[str, set[int]] = {}
    for record in records:
        if record.prompt_tokens:
            lengths.setdefault(record.prompt, set()).add(record.prompt_tokens)
    first = {record.prompt: record for record in reversed(records)}
    for name in dict.fromkeys(record.prompt for record in records):
        agreed = lengths.get(name, set())
        yield Prompt(
            id=ids[name],
            task=task_of(name, first[name].category, table, given),
            tokens=next(iter(agreed)) if len(agreed) == 1 else None,
        )


def _design(done: Sequence[Trial]) -> Design:
    return Design(
        blocks=max((trial.block for trial in done), default=0) + 1,
        order="sequential",
        planned_trials=max(1, len(done)),
        ended="completed",
    )


def _window(
    part: Part, facts: ImportedFacts, missing: Missing, done: Sequence[Trial]
) -> tuple[str, str]:
    """Start and end; where only a day is known, from its midnight for as long as trials took."""
    if facts.measured_from is not None and facts.measured_until is not None:
        return facts.measured_from, facts.measured_until
    day = facts.measured_from or missing.need("date", facts.date)
    if missing.keys:
        return "", ""
    spent_ms = sum((t.decode_ms or 0.0) + (t.prompt_ms or 0.0) for t in done)
    try:
        start = datetime.fromisoformat(day).replace(tzinfo=UTC)
    except ValueError as error:
        key = "date" if facts.measured_from is None else "measured_from"
        message = f"{part.name}: --map {key}={day!r}: expected a day such as 2026-05-17"
        raise BadInputError(message) from error
    try:
        end = start + timedelta(seconds=math.ceil(spent_ms / 1000) + 1)
    except OverflowError as error:
        message = f"{part.name}: the times add up to {spent_ms:.0e} ms; one of them is a slip"
        raise BadInputError(message) from error
    return utc_text(start), utc_text(end)


def _pieces(part: Part) -> Iterator[Part]:
    """A part with more prompts than a result may hold becomes several, category by category."""
    counted = Counter({r.prompt: r.category or "" for r in part.records}.values())
    groups: list[set[str]] = [set()]
    held = 0
    for category, count in sorted(counted.items()):
        if held and held + count > MAX_PROMPTS:
            groups.append(set())
            held = 0
        groups[-1].add(category)
        held += count
    for group in groups:
        yield replace(part, records=tuple(r for r in part.records if (r.category or "") in group))


def _names(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        for record in part.records:
            yield record.prompt
            if record.category:
                yield record.category


def _require_valid(submission: Submission) -> None:
    found = findings(canonical_bytes(encode(submission)))
    if found:
        lines = "; ".join(f"{each.path}: {each.message}" for each in found[:3])
        message = f"the records do not make a valid result: {lines}"
        raise BadInputError(message)
