"""Choose the candidates of a tune: methods at every depth, and the prompts of each stage."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from msgspec import structs

from estimates.depths import label
from harness.campaign.arms import BASELINE
from harness.campaign.arms import arms as all_arms
from harness.campaign.model import ArmPlan, Campaign, Stopping, SuitePrompt
from harness.errors import BadInputError
from harness.models.model_file import ModelFile
from harness.tune.options import DEEPEST_HEAD
from schemas.method import Method, limit
from schemas.vocabulary import FIXED_TASKS, METHODS

StageName = Literal["look", "certificate"]

# Prompts of the look and of the certificate, if the suite has enough.
_LOOK_PROMPTS, _CERTIFICATE_PROMPTS = 8, 24
_FEWEST_PROMPTS = 4
# The look takes at most this share of the budget, once there is data for a forecast.
LOOK_SHARE = 1 / 3
# The most settings that are certified, and the repetitions of the certificate's prompts: a further
# prompt is more informative about other prompts than a repetition.
CERTIFIED, BLOCKS = 4, 2
_FEWEST_CERTIFIED = 2
# The trials of the smallest certificate. Without a prompt of every task, a result has no figures
# over all tasks, and so no verdict on them.
LEAST_TRIALS = len(FIXED_TASKS) * (_FEWEST_CERTIFIED + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A method with its draft, if it has one, and its arms by depth.

    A method without a depth has a single arm, `arms[0]`.
    """

    name: str
    arms: dict[int, ArmPlan]

    @property
    def deepest(self) -> int:
        """The largest depth; 0 for a method without a depth."""
        return max(self.arms)

    def scouts(self, *, probed: bool) -> tuple[ArmPlan, ...]:
        """Return the arms to measure first, from which the other depths are forecast.

        More arms are needed if the engine cannot time steps (`probed` is false).
        """
        # Costs between two depths are interpolated linearly, but kernels change in between.
        more = () if probed else (2, max(1, self.deepest // 4), 8)
        depths = {*more, self.deepest}
        return tuple(self.arms[depth] for depth in sorted(depths & self.arms.keys()))


def families(
    methods: Sequence[Method],
    drafts: tuple[ModelFile, ...],
    *,
    deepest: int,
    fixed: bool = False,
) -> tuple[Family, ...]:
    """Return a family for each method and draft. Raises `BadInputError` if no method drafts."""
    depths: dict[str, dict[int, ArmPlan]] = {}
    for method in methods:
        for depth in (limit(method) or 0,) if fixed else depths_of(method, deepest):
            at_depth = structs.replace(method, n_max=depth) if depth else method
            for arm in all_arms((at_depth,), drafts):
                if arm.id != BASELINE:
                    several = len(drafts) > 1 and arm.method.draft is not None
                    name = label(arm.method) + (f" ({arm.method.draft})" if several else "")
                    depths.setdefault(name, {})[depth] = arm
    if not depths:
        raise BadInputError(
            "nothing to tune: no method speculates; name a method with --method or a draft "
            "with --draft"
        )
    return tuple(Family(name=name, arms=arms) for name, arms in depths.items())


def depths_of(method: Method, deepest: int) -> tuple[int, ...]:
    """Return the depths to try for a method: only 0 if it has no depth or adapts its depth.

    Controls, instruments and methods that never draft have no depths to try.
    """
    entry = METHODS[method.type]
    if entry.control is not None or entry.instrument or not entry.drafts:
        return ()
    if not limit(method) or method.controller:
        return (0,)
    most = min(deepest, DEEPEST_HEAD) if entry.architectures else deepest
    least = method.n_min or 1
    return tuple(range(min(least, most), most + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """The prompts of the look, and those of the certificate, which had no part in choosing arms."""

    look: tuple[SuitePrompt, ...]
    certificate: tuple[SuitePrompt, ...]

    def fitting(self, *, trial_s: float, left_s: float) -> tuple[int, tuple[SuitePrompt, ...]]:
        """Return how many settings to certify on which prompts, so that all blocks fit."""
        tasks, trials = len({each.task for each in self.certificate}), left_s / (BLOCKS * trial_s)
        enough = (arms for arms in (CERTIFIED, 3) if trials >= (arms + 1) * tasks)
        arms = next(enough, _FEWEST_CERTIFIED)
        count = int(trials / (arms + 1))
        count -= count % tasks  # as many prompts of each task
        return arms, self.certificate[: max(_FEWEST_PROMPTS, tasks, count)]


def split(prompts: Sequence[SuitePrompt]) -> Prompts:
    """Split the prompts into two disjoint sets, each with as many tasks as possible.

    Raises `BadInputError` if there are too few prompts.
    """
    if len(prompts) < _FEWEST_PROMPTS:
        raise BadInputError(
            f"a tune needs {_FEWEST_PROMPTS} prompts, some to choose a setting and others to "
            f"check the choice, but it has {len(prompts)}: relax --tasks or --prompts"
        )
    turns: dict[str, int] = {}
    ranked: list[tuple[int, int, SuitePrompt]] = []
    for prompt in prompts:
        turns[prompt.task] = turns.get(prompt.task, 0) + 1
        ranked.append((turns[prompt.task], len(ranked), prompt))
    in_turn = [prompt for _, _, prompt in sorted(ranked, key=lambda place: place[:2])]
    count = min(_LOOK_PROMPTS, max(2, len(prompts) // 3))
    return Prompts(
        look=tuple(in_turn[:count]),
        certificate=tuple(in_turn[count : count + _CERTIFICATE_PROMPTS]),
    )


def stage(
    base: Campaign,
    arms: Sequence[ArmPlan],
    prompts: Sequence[SuitePrompt],
    *,
    blocks: int,
    budget_s: float | None = None,
) -> Campaign:
    """Return the campaign of a tune's stage: the baseline and these arms on these prompts."""
    baseline = next(arm for arm in base.arms if arm.role == "baseline")
    used = {arm.method.draft for arm in arms}
    if any(arm.method.chain for arm in arms):  # a chain names no draft
        used |= {draft.model.id for draft in base.drafts}
    return replace(
        base,
        profile="custom",
        arms=(baseline, *arms),
        drafts=tuple(draft for draft in base.drafts if draft.model.id in used),
        suite=replace(base.suite, prompts=tuple(prompts)),
        blocks=blocks,
        stopping=Stopping(budget_s=budget_s),
    )
