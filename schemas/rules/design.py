"""Rules on the design and the times: arms, models, blocks, order and durations follow the plan."""

from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise

from schemas.finding import Violation
from schemas.submission import Submission


def arm_method_fits_role(submission: Submission) -> Iterator[Violation]:
    """Baselines and alternatives do not speculate; arms with the role speculation do.

    An arm with forced acceptance is an instrument, and its role is always control.
    """
    for index, arm in enumerate(submission.arms):
        plain = arm.method.type == "none"
        if arm.method.length is not None and arm.role != "control":
            message = (
                "an arm with forced acceptance shows the cost of a round, not the gain of a "
                "method; set its role to control"
            )
        elif plain and arm.role == "speculation":
            message = "the method none does not speculate; state the actual method, or another role"
        elif not plain and arm.role in ("baseline", "alternative"):
            message = (
                f"the role {arm.role} requires the method none; set the type to none, or the "
                "role to speculation"
            )
        else:
            continue
        yield f"$.arms[{index}].method.type", message


def ngram_range_ascends(submission: Submission) -> Iterator[Violation]:
    """The shortest n-gram that is looked up is no longer than the longest n-gram."""
    for index, arm in enumerate(submission.arms):
        method = arm.method
        if method.ngram_max is not None and (method.ngram_min or 0) > method.ngram_max:
            message = (
                f"ngram_min ({method.ngram_min}) exceeds ngram_max ({method.ngram_max}); "
                "give the smaller number as ngram_min"
            )
            yield f"$.arms[{index}].method.ngram_min", message


def active_within_total(submission: Submission) -> Iterator[Violation]:
    """A model uses no more parameters per token than it has."""
    drafts = {f"$.drafts[{index}]": model for index, model in enumerate(submission.drafts)}
    for path, model in {"$.target": submission.target, **drafts}.items():
        total, active = model.parameters, model.active_parameters
        if total is not None and active is not None and active > total:
            message = (
                f"{active} active parameters, but only {total} parameters in total; correct one "
                "of the two numbers"
            )
            yield f"{path}.active_parameters", message


def trial_block_planned(submission: Submission) -> Iterator[Violation]:
    """A trial belongs to one of the planned blocks, or to the repeats after the last block."""
    design = submission.design
    repeats = design.repeat_beyond is not None
    for index, trial in enumerate(submission.trials):
        if trial.block >= design.blocks + repeats:
            message = (
                f"block {trial.block}, but blocks count from 0 and design.blocks is "
                f"{design.blocks}; correct one of the two"
            )
            yield f"$.trials[{index}].block", message


# Clocks are read at slightly different moments, and figures are rounded.
_TOLERANCE = 1.001
_SLACK_MS = 1.0
# measured_from and measured_until are whole seconds, so the window may be short by almost two
# seconds.
_WINDOW_SLACK_MS = 2000.0


def parts_within_decode(submission: Submission) -> Iterator[Violation]:
    """The times for drafting and verification are parts of the decode time."""
    for index, trial in enumerate(submission.trials):
        if trial.decode_ms is None:
            continue
        parts_ms = (trial.draft_ms or 0.0) + (trial.verify_ms or 0.0)
        if parts_ms > trial.decode_ms * _TOLERANCE + _SLACK_MS:
            message = (
                f"draft_ms + verify_ms is {parts_ms:.1f}, more than {trial.decode_ms:.1f}; the "
                "two are parts of decode_ms, so leave them out or correct them"
            )
            yield f"$.trials[{index}].decode_ms", message


def decode_within_wall(submission: Submission) -> Iterator[Violation]:
    """Prompt processing and decoding happen between the request and the last token."""
    for index, trial in enumerate(submission.trials):
        if trial.decode_ms is None or trial.wall_ms is None:
            continue
        parts_ms = trial.decode_ms + (trial.prompt_ms or 0.0)
        if parts_ms > trial.wall_ms * _TOLERANCE + _SLACK_MS:
            message = (
                f"prompt_ms + decode_ms is {parts_ms:.1f}, more than {trial.wall_ms:.1f}; "
                "wall_ms includes both, so leave wall_ms out or correct it"
            )
            yield f"$.trials[{index}].wall_ms", message


def trials_within_window(submission: Submission) -> Iterator[Violation]:
    """The trials cannot take longer than the campaign (concurrent requests overlap)."""
    start = datetime.fromisoformat(submission.measured_from)
    end = datetime.fromisoformat(submission.measured_until)
    window_ms = (end - start).total_seconds() * 1000
    spent_ms = least_window_ms(submission)
    if window_ms < 0 or spent_ms > window_ms * _TOLERANCE + _WINDOW_SLACK_MS:
        message = (
            f"trials take {spent_ms / 1000:.1f} s, but measured_from and measured_until are only "
            f"{window_ms / 1000:.1f} s apart; give the time at which the run ended"
        )
        yield "$.measured_until", message


def least_window_ms(submission: Submission) -> float:
    """The shortest time that the trials can have taken, if concurrent requests overlapped fully."""
    concurrency = {arm.id: arm.concurrency or 1 for arm in submission.arms}
    return sum(
        (trial.decode_ms or 0.0) / concurrency.get(trial.arm, 1) for trial in submission.trials
    )


def decode_takes_time(submission: Submission) -> Iterator[Violation]:
    """Decoding more than one token cannot take zero time."""
    for index, trial in enumerate(submission.trials):
        if trial.output_tokens is not None and trial.output_tokens > 1 and trial.decode_ms == 0:
            message = (
                f"0 ms for {trial.output_tokens} tokens; give the time, or leave the trial out"
            )
            yield f"$.trials[{index}].decode_ms", message


def probe_widths_ascend(submission: Submission) -> Iterator[Violation]:
    """The verification curve has one time per width, in ascending order of width."""
    curve = submission.probes.verification if submission.probes else None
    if curve is None:
        return
    ascending = all(narrow < wide for narrow, wide in pairwise(curve.widths))
    if not ascending or len(curve.widths) != len(curve.step_ms_median):
        message = (
            f"{len(curve.widths)} widths and {len(curve.step_ms_median)} times; "
            "give the widths in ascending order and one time for each width"
        )
        yield "$.probes.verification", message
