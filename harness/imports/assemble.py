"""Make submissions from parsed files and the facts that the user stated. Pure functions."""

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
from harness.imports.needed_facts import ARM, KEYS, ImportedFacts, stated_for, typed
from harness.imports.prompts import check_tasks, pieces, suite
from harness.imports.records import ParsedFiles, Part
from harness.imports.source_files import BASELINE, wrong
from harness.imports.trials import LeftOut, trials
from harness.run.record import utc
from schemas import submission
from schemas.codec import canonical_bytes, decode, encode
from schemas.contract import findings
from schemas.model_sizes import parameters_of, size_in
from schemas.submission import Method, Origin, Submission, Trial
from schemas.vocabulary.axes import AXES


class Imported(NamedTuple):
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
    lacking: list[str] = []
    for part in (piece for whole in parsed.parts for piece in pieces(whole)):
        own, missing = stated_for(part.name, stated, names), list[str]()
        check_tasks(own, parsed.parts)
        result = _submission(part, own, missing, left_out)
        if missing:
            options = ", ".join(f"{key}=… ({KEYS[key]})" for key in dict.fromkeys(missing))
            remedy = f"state them with --map: {options}"
            lacking.append(str(wrong(part.name, "the files lack required facts", remedy)))
        elif result is not None:
            made.append(replace(result, origin=origin, contributor=contributor))
    if lacking:
        raise BadInputError("\n".join(dict.fromkeys(lacking)))
    lines = tuple(_lines(left_out))
    if not made:
        message = "there is nothing to import: no record has tokens with a time, or a failure"
        raise BadInputError("; ".join((message, *lines)))
    for each in made:
        if found := findings(canonical_bytes(encode(each))):
            faults = "; ".join(f"{finding.path}: {finding.message}" for finding in found[:3])
            raise BadInputError(f"the records do not make a valid result: {faults}")
    return Imported(submissions=tuple(made), left_out=lines)


def _submission(
    part: Part, stated: Mapping[str, str], missing: list[str], left_out: LeftOut
) -> Submission | None:
    """Make the submission for one part; `None` if it has no trial or a required fact is missing."""
    facts = part.facts | typed(stated)
    is_vague = facts.concurrency is None and None in part.concurrency.values()
    missing += ["concurrency"] if is_vague else []
    methods = _methods(part, stated, facts, missing)
    arm_ids, prompt_ids = ids_of(methods), ids_of(record.prompt for record in part.records)
    done = trials(
        part.records,
        arms={name: (arm_ids[name], how) for name, (how, _) in methods.items()},
        prompts=prompt_ids,
        counts=facts.rate_counts or "tokens",
        left_out=left_out,
    )
    if done and all(trial.arm != BASELINE for trial in done):
        fault = "no record of the baseline has both tokens and a time, so there is nothing to"
        raise wrong(part.name, f"{fault} compare", "; ".join(_lines(left_out)))
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
        engine=decode(submission.Engine, facts.part_of_rig("engine", runner="imported")),
        target=_target(facts),
        drafts=tuple({draft.id: draft for _, draft in methods.values() if draft}.values()),
        settings=_settings(facts),
        design=_design(done),
        suite=suite(part, stated, prompt_ids, done, data_set=facts.dataset),
        arms=tuple(_arm(part, name, arm_ids[name], methods[name][0], facts) for name in methods),
        trials=done,
        probes=part.probes,
    )


def _methods(
    part: Part, stated: Mapping[str, str], facts: ImportedFacts, missing: list[str]
) -> dict[str, tuple[Method, submission.Model | None]]:
    """Return each arm's method: the stated one, else the file's, else the one for all arms."""
    own = dict(part.methods) | {BASELINE: "none"}
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


def _arm(part: Part, name: str, arm_id: str, how: Method, facts: ImportedFacts) -> submission.Arm:
    layers = facts.gpu_layers
    concurrency = facts.concurrency or part.concurrency.get(name) or None
    placed = submission.Placement(target_gpu_layers_requested=layers)
    return submission.Arm(
        id=arm_id,
        role="baseline" if name == BASELINE else "speculation",
        method=how,
        baseline=None if name == BASELINE else BASELINE,
        concurrency=None if concurrency == 1 else concurrency,
        outcome="ok",
        placement=None if layers is None else placed,
    )


def _window(part: str, facts: ImportedFacts, done: Sequence[Trial]) -> tuple[str, str]:
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
        raise wrong(part, f"--map {key}={day!r}: expected a date such as 2026-05-17") from error
    except OverflowError as error:
        fault = f"the times add up to {spent_ms:.0e} ms; at least one time is wrong"
        raise wrong(part, fault) from error
    return utc(start), utc(end)


def _lines(left_out: LeftOut) -> Iterator[str]:
    """Yield one line for each kind of data left out, with the first place where it was found."""
    for what, places in left_out.items():
        if len(places) > 1:
            yield f"{what} ({len(places)} times, first at {places[0]})"
        else:
            yield " ".join((what, *(f"({place})" for place in places)))
