"""How do records of another tool and facts become results? Pure: values in, submissions out."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from harness import __version__
from harness.errors import BadInputError
from harness.importers import setting
from harness.importers.facts import Facts, for_part, missing_message
from harness.importers.methods import method
from harness.importers.model import BASELINE, ArmRead, Part, Reading, Record
from harness.importers.translate import check, ids_of, task_of
from harness.importers.trials import LeftOut, trials
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
_TIME = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
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


def assemble(reading: Reading, given: Mapping[str, str], about: About) -> Imported:
    """One valid submission for every part. Raises `BadInputError` naming all that is missing."""
    left_out = LeftOut(reading.left_out)
    names = [part.name for part in reading.parts]
    pieces = [piece for part in reading.parts for piece in _pieces(part)]
    made: list[Submission] = []
    wrong: list[str] = []
    for part in pieces:
        facts = Facts(given=for_part(given, part.name, names), read=part.facts)
        check(facts.below("task"), _names(reading.parts))
        submission = _submission(part, facts, about, left_out)
        if facts.missing:
            wrong.append(missing_message(part.name, facts.missing))
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


def _submission(part: Part, facts: Facts, about: About, left_out: LeftOut) -> Submission | None:
    """The submission of a part; `None` when it has no trial."""
    for key in part.asks:
        facts.need(key)
    methods = {arm.name: _method(arm, facts) for arm in part.arms}
    arm_ids, prompt_ids = ids_of(methods), ids_of(record.prompt for record in part.records)
    known = {name: (arm_ids[name], made) for name, (made, _) in methods.items()}
    done = trials(
        part.records,
        arms=known,
        prompts=prompt_ids,
        counts=setting.rate_counts(facts),
        left_out=left_out,
    )
    if not done and not facts.missing:
        return None
    _require_baseline(part, done, left_out)
    began, ended = _window(part, facts, done)
    return Submission(
        tier="imported",
        profile="custom",
        measured_from=began,
        measured_until=ended,
        contributor=about.contributor,
        tool=Tool(name="draftmap", version=__version__),
        origin=about.origin(),
        machine=setting.machine(facts),
        engine=setting.engine(facts),
        target=setting.target(facts),
        drafts=_drafts(draft for _, draft in methods.values()),
        settings=setting.settings(facts),
        design=_design(done),
        suite=_suite(part, facts, prompt_ids, done),
        arms=tuple(_arm(arm, arm_ids, methods[arm.name][0], facts) for arm in part.arms),
        trials=done,
    )


def _suite(part: Part, facts: Facts, prompt_ids: Mapping[str, str], done: Sequence[Trial]) -> Suite:
    """The prompts that were answered, as the suite that they are of."""
    answered = {trial.prompt for trial in done}
    asked = _prompts(part.records, prompt_ids, part.tasks, facts.below("task"))
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


def _method(arm: ArmRead, facts: Facts) -> tuple[Method, Model | None]:
    given = facts.below("arm").get(arm.name)
    if given is None and arm.method is not None:
        return method(arm.method, facts)
    return method(given or facts.text("method") or _asked(facts), facts)


def _asked(facts: Facts) -> str:
    facts.need("method")
    return "other:name=unknown"


def _arm(arm: ArmRead, ids: Mapping[str, str], how: Method, facts: Facts) -> Arm:
    concurrency = facts.whole("concurrency") or arm.concurrency
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


def _drafts(found: Iterable[Model | None]) -> tuple[Model, ...]:
    return tuple({draft.id: draft for draft in found if draft is not None}.values())


def _window(part: Part, facts: Facts, done: Sequence[Trial]) -> tuple[str, str]:
    """Begin and end; where only a day is known, from its midnight for as long as trials took."""
    began, ended = facts.text("measured_from"), facts.text("measured_until")
    if began is not None and ended is not None:
        return began, ended
    day = facts.need("date") if began is None else began[:10]
    spent_ms = sum((t.decode_ms or 0.0) + (t.prompt_ms or 0.0) for t in done)
    try:
        start = datetime.fromisoformat(began or day).replace(tzinfo=UTC)
    except ValueError as error:
        if facts.missing:
            return "", ""
        message = f"{part.name}: --map date={day!r}: expected a day such as 2026-05-17"
        raise BadInputError(message) from error
    try:
        end = start + timedelta(seconds=math.ceil(spent_ms / 1000) + 1)
    except OverflowError as error:
        message = f"{part.name}: the times add up to {spent_ms:.0e} ms; one of them is a slip"
        raise BadInputError(message) from error
    return start.strftime(_TIME), end.strftime(_TIME)


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
