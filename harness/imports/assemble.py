"""Make a submission from requests and the facts that the user stated. Pure functions."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from estimates.gpu_names import known_vendor
from harness import __version__
from harness.errors import BadInputError
from harness.imports.arm_methods import method
from harness.imports.foreign_names import id_of, ids_of
from harness.imports.measured_arms import MeasuredArms
from harness.imports.needed_facts import ARM, KEYS, ImportedFacts, agreed, typed
from harness.imports.source_files import BASELINE
from harness.imports.trials import LeftOut, trials
from harness.run.record import utc
from schemas import submission
from schemas.codec import canonical_bytes, decode, encode
from schemas.contract import findings
from schemas.model_sizes import parameters_of, size_in
from schemas.submission import Method, Origin, Submission, Trial
from schemas.vocabulary.axes import AXES

Methods = dict[str, tuple[Method, submission.Model | None]]  # of each arm, with its draft model


class Imported(NamedTuple):
    """The submission, and one line for each kind of data that a submission cannot store."""

    submission: Submission
    left_out: tuple[str, ...]


def assemble(
    measured: MeasuredArms,
    stated: Mapping[str, str],
    origin: Origin,
    contributor: str | None = None,
) -> Imported:
    """Make one valid submission. Raises `BadInputError`, naming every missing fact."""
    left_out = LeftOut(list, {line: [] for line in measured.left_out})
    missing: list[str] = []
    facts = measured.facts | typed(stated)
    methods = _methods(measured, stated, facts, missing)
    ids = ids_of(methods)
    done = trials(
        measured.requests,
        arms={name: (ids[name], how) for name, (how, _) in methods.items()},
        counts=facts.rate_counts or "tokens",
        left_out=left_out,
    )
    if all(trial.arm != BASELINE for trial in done):
        fault = "no request of the baseline has both tokens and a time, so there is nothing to"
        raise BadInputError(f"{fault} compare; {'; '.join(_lines(left_out))}")
    missing += _missing(facts)
    if missing:
        options = ", ".join(f"{key}=… ({KEYS[key]})" for key in dict.fromkeys(missing))
        raise BadInputError(f"the files lack required facts; state them with --map: {options}")
    result = replace(
        _submission(facts, done, methods, _suite(measured, facts, done)),
        origin=origin,
        contributor=contributor,
    )
    if found := findings(canonical_bytes(encode(result))):
        faults = "; ".join(f"{finding.path}: {finding.message}" for finding in found[:3])
        raise BadInputError(f"the requests do not make a valid result: {faults}")
    return Imported(submission=result, left_out=tuple(_lines(left_out)))


def _submission(
    facts: ImportedFacts, done: Sequence[Trial], methods: Methods, suite: submission.Suite
) -> Submission:
    began, ended = _window(facts, done)
    ids = ids_of(methods)
    return Submission(
        tier="imported",
        profile="custom",
        measured_from=began,
        measured_until=ended,
        tool=submission.Tool(name="draftmap", version=__version__),
        machine=_machine(facts),
        engine=decode(submission.Engine, facts.part_of_rig("engine", runner="imported")),
        target=_target(facts),
        drafts=tuple({draft.id: draft for _, draft in methods.values() if draft}.values()),
        settings=_settings(facts),
        design=_design(done),
        suite=suite,
        arms=tuple(_arm(name, ids[name], methods[name][0], facts) for name in methods),
        trials=tuple(done),
    )


def _suite(measured: MeasuredArms, facts: ImportedFacts, done: Sequence[Trial]) -> submission.Suite:
    """Return the suite of the prompts that have trials.

    The suite of a serving benchmark is named after the data set that it sent.
    """
    lengths: dict[str, set[int]] = {}
    for _, at, request in measured.requests:
        lengths.setdefault(f"request-{at}", set()).update(filter(None, [request.prompt_tokens]))
    answered = {trial.prompt for trial in done}
    prompts = (
        submission.Prompt(id=name, task=facts.task or "other", tokens=agreed(own))
        for name, own in lengths.items()
        if name in answered
    )
    return submission.Suite(
        id=id_of(f"{measured.source}-{facts.dataset}") if facts.dataset else measured.source,
        version="0.0.0",  # unknown
        prompts=tuple(prompts),
    )


def _methods(
    measured: MeasuredArms, stated: Mapping[str, str], facts: ImportedFacts, missing: list[str]
) -> Methods:
    """Return each arm's method: the stated one, else the file's, else the one for all arms."""
    own = dict(measured.methods) | {BASELINE: "none"}
    return {
        name: method(stated.get(f"{ARM}{name}") or own[name] or facts.method, facts, missing)
        for name in dict.fromkeys((BASELINE, *own))
    }


def _design(done: Sequence[Trial]) -> submission.Design:
    blocks = max(trial.block for trial in done) + 1
    return submission.Design(
        blocks=blocks, order="sequential", planned_trials=len(done), ended="completed"
    )


def _missing(facts: ImportedFacts) -> list[str]:
    """Return the missing facts that a result needs, such as the GPU for a GPU backend."""
    device = "cpu" if facts.backend == "cpu" else "gpu"
    needed = (device, "backend", "engine", "target", "quantisation", "sampling")
    found = {"date": facts.measured_from or facts.date} | {k: getattr(facts, k) for k in needed}
    return [key for key, value in found.items() if value is None]


def _machine(facts: ImportedFacts) -> submission.Machine:
    """Return the machine; all its GPUs have the same memory and driver."""
    names = filter(None, map(str.strip, (facts.gpu or "").split(",")))
    cards = (facts.part_of_rig("gpu", name=name, vendor=known_vendor(name)) for name in names)
    return submission.Machine(
        os=decode(submission.OperatingSystem, facts.part_of_rig("os")) if facts.os else None,
        cpu=decode(submission.Cpu, facts.part_of_rig("cpu")),
        ram_mib=facts.ram_mib,
        gpus=tuple(decode(submission.Gpu, card) for card in cards),
    )


def _target(facts: ImportedFacts) -> submission.Model:
    name = facts.target or ""
    known = facts.part_of_rig(
        "target",
        id=id_of(f"{name}-{facts.quantisation}"),
        parameters=parameters_of(facts.parameters or size_in(name)),
        active_parameters=parameters_of(facts.active_parameters or size_in(name, active=True)),
    )
    return decode(submission.Model, known)


def _settings(facts: ImportedFacts) -> submission.Settings:
    """Return the settings; sampling settings are included only if tokens were sampled."""
    known = facts.part_of_rig("settings")
    sampled = {name for name, axis in AXES.items() if "temperature" in (name, axis.needs)}
    unused = sampled if facts.sampling == "greedy" else set[str]()
    return decode(submission.Settings, {k: v for k, v in known.items() if k not in unused})


def _arm(name: str, arm_id: str, how: Method, facts: ImportedFacts) -> submission.Arm:
    layers = facts.gpu_layers
    placed = submission.Placement(target_gpu_layers_requested=layers)
    return submission.Arm(
        id=arm_id,
        role="baseline" if name == BASELINE else "speculation",
        method=how,
        baseline=None if name == BASELINE else BASELINE,
        concurrency=None if facts.concurrency == 1 else facts.concurrency,
        outcome="ok",
        placement=None if layers is None else placed,
    )


def _window(facts: ImportedFacts, done: Sequence[Trial]) -> tuple[str, str]:
    """Return when the run started and ended.

    If only the day is known, the run starts at midnight and lasts as long as its trials.
    """
    if facts.measured_from is not None and facts.measured_until is not None:
        return facts.measured_from, facts.measured_until
    key = "date" if facts.measured_from is None else "measured_from"
    day = facts.measured_from or facts.date or ""
    spent_ms = sum((t.decode_ms or 0.0) + (t.prompt_ms or 0.0) for t in done)
    try:
        start = datetime.fromisoformat(day).replace(tzinfo=UTC)
        end = start + timedelta(seconds=math.ceil(spent_ms / 1000) + 1)
    except ValueError as error:
        raise BadInputError(f"--map {key}={day!r}: expected a date such as 2026-05-17") from error
    except OverflowError as error:
        fault = f"the times add up to {spent_ms:.0e} ms; at least one time is wrong"
        raise BadInputError(fault) from error
    return utc(start), utc(end)


def _lines(left_out: LeftOut) -> Iterator[str]:
    """Yield one line for each kind of data left out, with the first place where it was found."""
    for what, places in left_out.items():
        if len(places) > 1:
            yield f"{what} ({len(places)} times, first at {places[0]})"
        else:
            yield " ".join((what, *(f"({place})" for place in places)))
