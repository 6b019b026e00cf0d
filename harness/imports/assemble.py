"""Make submissions from parsed files and the facts that the user stated. Pure functions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from estimates.gpu_names import known_vendor
from harness import __version__
from harness.errors import BadInputError
from harness.imports.arm_methods import method
from harness.imports.foreign_names import id_of, ids_of
from harness.imports.needed_facts import ARM, KEYS, ImportedFacts, stated_for, typed
from harness.imports.prompts import check_tasks, pieces, suite
from harness.imports.records import ArmRead, ParsedFiles, Part
from harness.imports.source_files import BASELINE
from harness.imports.trials import LeftOut, trials
from harness.run.record import utc
from schemas import submission
from schemas.codec import canonical_bytes, encode
from schemas.contract import findings
from schemas.submission import Arm, Method, Origin, Placement, Submission, Trial
from schemas.vocabulary.axes import AXES
from schemas.weights import parameters_of, size_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The submissions, and one line for each kind of data that a submission cannot store."""

    submissions: tuple[Submission, ...]
    left_out: tuple[str, ...]


def assemble(
    parsed: ParsedFiles, stated: Mapping[str, str], origin: Origin, contributor: str | None = None
) -> Imported:
    """Make one valid submission per part. Raises `BadInputError`, naming every missing fact.

    A part holds the measurements of one target on one machine.
    """
    left_out = LeftOut(list, {line: [] for line in parsed.left_out})
    names = [part.name for part in parsed.parts]
    made: list[Submission] = []
    wrong: list[str] = []
    for part in (piece for whole in parsed.parts for piece in pieces(whole)):
        own, missing = stated_for(part.name, stated, names), list[str]()
        check_tasks(own, parsed.parts)
        result = _submission(part, own, missing, left_out)
        if missing:
            options = ", ".join(f"{key}=… ({KEYS[key]})" for key in dict.fromkeys(missing))
            lacking = "the files lack required facts; state them with --map"
            wrong.append(f"{part.name}: {lacking}: {options}")
        elif result is not None:
            made.append(replace(result, origin=origin, contributor=contributor))
    if wrong:
        raise BadInputError("\n".join(dict.fromkeys(wrong)))
    if not made:
        message = "there is nothing to import: no record has tokens with a time, or a failure"
        raise BadInputError("; ".join((message, *_lines(left_out))))
    for each in made:
        if found := findings(canonical_bytes(encode(each))):
            lines = "; ".join(f"{finding.path}: {finding.message}" for finding in found[:3])
            raise BadInputError(f"the records do not make a valid result: {lines}")
    return Imported(submissions=tuple(made), left_out=_lines(left_out))


def _submission(
    part: Part, stated: Mapping[str, str], missing: list[str], left_out: LeftOut
) -> Submission | None:
    """Make the submission for one part; `None` if it has no trial or a required fact is missing."""
    facts = part.facts | typed(stated)
    missing += ["concurrency"] if part.needs_concurrency and facts.concurrency is None else []
    methods = {}
    for arm in part.arms:  # the method stated for this arm, else the file's, else that for all arms
        how = stated.get(f"{ARM}{arm.name}") or arm.method or facts.method
        methods[arm.name] = method(how, facts, missing)
    arm_ids, prompt_ids = ids_of(methods), ids_of(record.prompt for record in part.records)
    done = trials(
        part.records,
        arms={name: (arm_ids[name], each) for name, (each, _) in methods.items()},
        prompts=prompt_ids,
        counts=facts.rate_counts or "tokens",
        left_out=left_out,
    )
    _require_baseline(part, done, left_out)
    missing += _missing(facts) if done or missing else ()
    if missing or not done:
        return None
    began, ended = _window(part.name, facts, done)
    return Submission(
        tier="imported",
        profile="custom",
        measured_from=began,
        measured_until=ended,
        tool=submission.Tool(name="draftmap", version=__version__),
        machine=_machine(facts),
        engine=_engine(facts),
        target=_target(facts),
        drafts=tuple({draft.id: draft for _, draft in methods.values() if draft}.values()),
        settings=_settings(facts),
        design=_design(done),
        suite=suite(part, stated, prompt_ids, done, data_set=facts.dataset),
        arms=tuple(_arm(arm, arm_ids[arm.name], methods[arm.name][0], facts) for arm in part.arms),
        trials=done,
        probes=part.probes,
    )


def _require_baseline(part: Part, done: Sequence[Trial], left_out: LeftOut) -> None:
    if done and all(trial.arm != BASELINE for trial in done):
        message = "no record of the baseline has both tokens and a time, so there is nothing to"
        raise BadInputError("; ".join((f"{part.name}: {message} compare", *_lines(left_out))))


def _design(done: Sequence[Trial]) -> submission.Design:
    return submission.Design(
        blocks=max(trial.block for trial in done) + 1,
        order="sequential",
        planned_trials=len(done),
        ended="completed",
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
    system = submission.OperatingSystem(family=facts.os or "other", version=facts.os_version)
    return submission.Machine(
        os=system if facts.os else None,
        cpu=submission.Cpu(
            name=facts.cpu, architecture=facts.cpu_architecture, logical_cores=facts.cpu_cores
        ),
        ram_mib=facts.ram_mib,
        gpus=tuple(
            submission.Gpu(
                name=name,
                vendor=known_vendor(name),
                vram_mib=facts.vram_mib,
                driver=facts.gpu_driver,
            )
            for name in names
        ),
    )


def _engine(facts: ImportedFacts) -> submission.Engine:
    return submission.Engine(
        runner="imported",
        name=facts.engine or "",
        version=facts.engine_version,
        commit=facts.engine_commit,
        build_number=facts.build,
        backend=facts.backend or "other",
    )


def _target(facts: ImportedFacts) -> submission.Model:
    name, quantisation = facts.target or "", facts.quantisation or ""
    return submission.Model(
        id=id_of(f"{name}-{quantisation}"),
        name=name,
        quantisation=quantisation,
        parameters=parameters_of(facts.parameters or size_in(name)),
        active_parameters=parameters_of(facts.active_parameters or size_in(name, active=True)),
        file_bytes=facts.target_bytes,
        sha256=facts.target_sha256,
    )


def _settings(facts: ImportedFacts) -> submission.Settings:
    """Return the settings; sampling settings are included only if tokens were sampled."""
    axes: dict[str, Any] = {
        name: axis.value(facts)
        for name, axis in AXES.items()
        if facts.sampling != "greedy" or "temperature" not in (name, axis.needs)
    }
    return submission.Settings(
        sampling=facts.sampling or "other",
        max_output_tokens=facts.max_output_tokens,
        context_tokens=facts.context,
        batch_tokens=facts.batch,
        micro_batch_tokens=facts.micro_batch,
        threads=facts.threads,
        thinking=facts.thinking,
        **axes,
    )


def _arm(arm: ArmRead, arm_id: str, how: Method, facts: ImportedFacts) -> Arm:
    is_baseline, layers = arm.name == BASELINE, facts.gpu_layers
    concurrency = facts.concurrency or arm.concurrency
    return Arm(
        id=arm_id,
        role="baseline" if is_baseline else "speculation",
        method=how,
        baseline=None if is_baseline else BASELINE,
        concurrency=concurrency if concurrency != 1 else None,
        outcome="failed" if arm.reason else "ok",
        reason=arm.reason,
        placement=None if layers is None else Placement(target_gpu_layers_requested=layers),
    )


def _window(part: str, facts: ImportedFacts, done: Sequence[Trial]) -> tuple[str, str]:
    """Return when the run started and ended.

    If only the day is known, the run starts at midnight and lasts as long as its trials.
    """
    if facts.measured_from is not None and facts.measured_until is not None:
        return facts.measured_from, facts.measured_until
    day = facts.measured_from or facts.date or ""
    spent_ms = sum((t.decode_ms or 0.0) + (t.prompt_ms or 0.0) for t in done)
    try:
        start = datetime.fromisoformat(day).replace(tzinfo=UTC)
    except ValueError as error:
        key = "date" if facts.measured_from is None else "measured_from"
        raise BadInputError(
            f"{part}: --map {key}={day!r}: expected a date such as 2026-05-17"
        ) from error
    try:
        end = start + timedelta(seconds=math.ceil(spent_ms / 1000) + 1)
    except OverflowError as error:
        raise BadInputError(
            f"{part}: the times add up to {spent_ms:.0e} ms; at least one time is wrong"
        ) from error
    return utc(start), utc(end)


def _lines(left_out: LeftOut) -> tuple[str, ...]:
    """Return one line for each kind of data left out, with the first place where it was found."""
    return tuple(
        f"{what} ({len(places)} times, first at {places[0]})"
        if len(places) > 1
        else " ".join((what, *(f"({place})" for place in places)))
        for what, places in left_out.items()
    )
