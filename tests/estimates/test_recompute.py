"""A reader of the Methodology page computes the same figures from the same files."""

from dataclasses import replace

import pytest

from bench import recompute, recompute_trials
from bench.real import EXACT, compare, files
from schemas.codec import canonical_bytes, encode
from schemas.submission import Submission
from tests.nightly import few
from tests.samples import sample

REAL = dict(files(()))


def giving_up() -> Submission:
    """A campaign in which the draft model runs out of time on one prompt in one block of two."""
    made = sample(prompts_per_task=2)
    gone = next(t for t in made.trials if t.arm == "draft-model-n4" and t.block == 1)
    failed = replace(
        type(gone)(arm=gone.arm, prompt=gone.prompt, block=1, order=gone.order, outcome="failed"),
        reason="timed-out",
        wall_ms=90_000.0,
    )
    return replace(made, trials=tuple(failed if t is gone else t for t in made.trials))


@pytest.mark.parametrize("name", few(REAL, 14))
def test_every_estimate_follows_from_the_methodology_page_and_contains_the_wall_clock(
    name: str,
) -> None:
    found = compare(REAL[name])

    assert found.missing == 0
    assert found.differs < EXACT
    assert found.contained == found.timed


def test_bounds_of_a_campaign_with_timeouts_agree_with_the_page() -> None:
    found = compare(canonical_bytes(encode(giving_up())))

    assert found.missing == 0
    assert found.differs < EXACT


def test_the_recomputation_shares_no_code_with_the_estimates() -> None:
    for module in (recompute, recompute_trials):
        assert not [each for each in vars(module).values() if _is_ours(each)]


def _is_ours(value: object) -> bool:
    module = getattr(value, "__module__", None) or getattr(value, "__name__", "")
    return str(module).startswith(("estimates", "schemas", "harness", "pipeline"))
