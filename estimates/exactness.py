"""Compare an arm's output with the baseline's, token by token."""

from collections import Counter
from collections.abc import Iterable, Sequence

from estimates.model import Exactness, ExactnessCounts
from schemas.submission import Trial

# A step over several tokens adds up in another order than single steps do. Tried with
# SmolLM2-135M in F16 on a CPU, widths 2 and 5 against 1, 1580 tokens: the top-2 margin moved by
# 0.003 in the median and by 0.023 at most. Four times that leaves room for other kernels, and
# only one token in 25 has so small a margin: an error at a random place would rarely hide here.
NEAR_TIE_LOGITS = 0.1

_WORST_FIRST: tuple[Exactness, ...] = ("diverged", "diverged-near-tie", "identical")


def classify(trial: Trial, baseline: Trial | None = None) -> Exactness:
    """One output against the baseline's. A difference without a margin counts as diverged.

    Where no tokens were compared, as in imported files, equal digests are equal outputs.
    """
    if trial.outcome != "ok":
        return "not-compared"
    if not trial.compared_tokens:
        return _by_digest(trial, baseline)
    if trial.first_divergence is None:
        return "identical"
    margin = trial.divergence_margin
    near = margin is not None and margin < NEAR_TIE_LOGITS
    return "diverged-near-tie" if near else "diverged"


def worst(trials: Sequence[Trial], baseline: Sequence[Trial]) -> Exactness:
    """The worst class over the blocks; blocks that were not compared do not count."""
    seen = {classify(own, base) for own, base in zip(trials, baseline, strict=True)}
    return next((each for each in _WORST_FIRST if each in seen), "not-compared")


def _by_digest(trial: Trial, baseline: Trial | None) -> Exactness:
    if baseline is None or trial.output_sha256 is None or baseline.output_sha256 is None:
        return "not-compared"
    return "identical" if trial.output_sha256 == baseline.output_sha256 else "diverged"


def count(classes: Iterable[Exactness]) -> ExactnessCounts:
    """Prompts per class."""
    counts = Counter(classes)
    return ExactnessCounts(
        identical=counts["identical"],
        diverged_near_tie=counts["diverged-near-tie"],
        diverged=counts["diverged"],
        not_compared=counts["not-compared"],
    )
