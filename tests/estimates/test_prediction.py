"""The probes predict a speedup."""

import pytest

from estimates.decomposition import draft_token_ms, expected_tokens, predicted_speedup, step_ms
from schemas.method import Method
from schemas.submission import DraftingProbe, Probes, VerificationProbe
from tests.estimates.campaigns import DRAFTER, LOOKUP, trial

CURVE = VerificationProbe(
    context_tokens=256, repeats=9, widths=(1, 3, 5), step_ms_median=(20.0, 30.0, 28.0)
)
PROBES = Probes(
    verification=CURVE,
    drafting=(DraftingProbe(draft="tiny-q8-0", repeats=16, token_ms_median=2.0),),
)


def test_a_draft_model_pays_for_its_tokens_and_for_the_wide_step() -> None:
    # Always 4 drafted and 2 accepted: 3 tokens for 4 x 2 + 28 = 36 ms, against 20 ms per token.
    trials = [trial(drafted_histogram=(0, 0, 0, 0, 10), accepted_histogram=(0, 0, 10))]

    assert predicted_speedup(DRAFTER, trials, PROBES) == pytest.approx(3 * 20 / 36)


def test_rounds_that_did_not_fire_yield_one_token_and_cost_a_plain_step() -> None:
    # 8 plain rounds and 2 with two tokens, all accepted: 14 tokens for 8 x 20 + 2 x 30 = 220 ms.
    trials = [trial(drafted_histogram=(8, 0, 2), accepted_histogram=(8, 0, 2))]

    assert predicted_speedup(LOOKUP, trials, PROBES) == pytest.approx(14 * 20 / 220)


def test_an_empty_draft_is_predicted_to_change_nothing() -> None:
    trials = [trial(drafted_histogram=(10,), accepted_histogram=(10,))]

    assert predicted_speedup(Method(type="empty-draft"), trials, PROBES) == pytest.approx(1.0)


def test_expected_tokens_multiply_the_chances_of_the_positions() -> None:
    # 1 + 0.8 + 0.8 x 0.5 = 2.2, and a third position that was never reached adds nothing.
    assert expected_tokens((0.8, 0.5), 3) == pytest.approx(2.2)
    assert expected_tokens((0.8, 0.5), 0) == 1.0


def test_widths_between_probed_ones_are_interpolated_and_others_unknown() -> None:
    assert step_ms(CURVE, 2) == pytest.approx(25.0)
    assert step_ms(CURVE, 5) == pytest.approx(28.0)
    assert step_ms(CURVE, 6) is None


def test_a_width_beyond_the_curve_makes_no_prediction() -> None:
    trials = [trial(drafted_histogram=(0, 0, 0, 0, 0, 2), accepted_histogram=(2,))]

    assert predicted_speedup(LOOKUP, trials, PROBES) is None


@pytest.mark.parametrize("probes", [None, Probes(), Probes(verification=CURVE)])
def test_missing_probes_make_no_prediction(probes: Probes | None) -> None:
    trials = [trial(drafted_histogram=(0, 2), accepted_histogram=(2,))]

    assert predicted_speedup(DRAFTER, trials, probes) is None


def test_a_curve_without_a_single_step_makes_no_prediction() -> None:
    curve = VerificationProbe(context_tokens=1, repeats=1, widths=(2, 3), step_ms_median=(9.0, 9.0))
    trials = [trial(drafted_histogram=(0, 2), accepted_histogram=(2,))]

    assert predicted_speedup(LOOKUP, trials, Probes(verification=curve)) is None


def test_missing_histograms_make_no_prediction() -> None:
    assert predicted_speedup(DRAFTER, [trial()], PROBES) is None


def test_drafting_is_free_only_for_look_ups() -> None:
    assert draft_token_ms(LOOKUP, None) == 0.0
    assert draft_token_ms(DRAFTER, PROBES) == 2.0
    assert draft_token_ms(Method(type="draft-model", draft="another", n_max=2), PROBES) is None
    assert draft_token_ms(Method(type="mtp"), PROBES) is None
