"""Say why a setting did not gain: its acceptance or the cost of its rounds, compared with people's.

Also say about how many more prompts would decide.
"""

import math
from collections.abc import Iterator

from estimates.identity import identify
from harness.report.setting_results import SettingFigures
from planner.acceptance import fitted
from planner.engine_commands import source_of
from planner.evidence import Rig
from planner.kinds import Case, machine_kind
from planner.machines import device_key
from planner.rounds import usual_cost
from schemas.submission import Arm, Submission
from schemas.vocabulary import say

_GAIN = 1.05  # a smaller speedup was missed
_DEARER = 1.15  # a round that costs this many times the usual is unusual
_NO_DIRECTION = 0.01  # as a logarithm: no number of prompts shows a direction
_MOST_PROMPTS = 2000


def sentences(best: SettingFigures, submission: Submission) -> Iterator[str]:
    """Yield the unusual part of a missed gain, and how many more prompts would decide."""
    if best.answer not in ("no", "unknown"):
        return
    whole, depth = best.whole, best.arm.method.n_max
    tokens, cost = whole.tokens_per_round, whole.round_cost
    missed = whole.speedup is not None and whole.speedup < _GAIN
    if missed and tokens and cost and depth and source_of(best.arm.method.type) != "text":
        yield from parts(
            _case(best.arm, submission), depth, (tokens, cost), _drafting(best.arm, submission)
        )
    yield from more_prompts(best)


def parts(case: Case, depth: int, own: tuple[float, float], drafting: float) -> Iterator[str]:
    tokens, cost = own
    known, usual = fitted(), fitted().usual_of(case)
    low, high = usual.shares(depth)
    share = (tokens - 1) / depth
    people = f"{usual.people} people with such drafts got {say.percent(low)} to {say.percent(high)}"
    kind = machine_kind(case.rig)
    by_kind = usual_cost(depth, kind, mixture=case.mixture, drafting=drafting)
    elsewhere = math.exp(known.log_cost(case, by_kind))
    few, dear = share < low, cost > elsewhere * _DEARER
    if few or not dear:
        yield f"This text gets {say.percent(share)} accepted; {people}."
    if dear or not few:
        yield f"A round costs {cost:.1f} plain steps here, {elsewhere:.1f} in similar settings."


def more_prompts(best: SettingFigures) -> Iterator[str]:
    """Yield how many more prompts would decide: the interval narrows with their root."""
    whole = best.whole
    if best.answer != "unknown" or whole.interval is None or not whole.speedup:
        return
    distance = abs(math.log(whole.speedup))
    if _NO_DIRECTION < distance < whole.interval.log_half_width:
        needed = whole.prompts * (whole.interval.log_half_width / distance) ** 2
        more = math.ceil(needed - whole.prompts)
        if more <= _MOST_PROMPTS:
            yield f"About {say.count(more, 'more prompt')} of this kind would decide."


def _case(arm: Arm, submission: Submission) -> Case:
    rig, target = identify(submission), submission.target
    on_cpu = rig.device_kind != "gpu"
    sizes = target.parameters, target.active_parameters
    return Case(
        rig=Rig(card=device_key(rig.device_name, on_cpu=on_cpu), on_cpu=on_cpu),
        mixture=None not in sizes and sizes[0] != sizes[1],
        method=arm.method.type,
    )


def _drafting(arm: Arm, submission: Submission) -> float:
    """The share of the target's bytes that a draft model reads for each token."""
    if source_of(arm.method.type) != "model":
        return 0.0
    sizes = {draft.id: draft.file_bytes for draft in submission.drafts}
    draft, target = sizes.get(arm.method.draft or ""), submission.target.file_bytes
    return min(1.0, draft / target) if draft and target else 0.0
