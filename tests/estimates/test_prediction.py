"""The probes predict a speedup."""

import pytest

from estimates.decomposition import draft_token_ms, expected_tokens, predicted_speedup, step_ms
from schemas.method import Method
from schemas.submission import DraftingProbe, Probes, Trial, VerificationProbe
from tests.estimates.campaigns import DRAFTER, LOOKUP, trial

CURVE = VerificationProbe(
    context_tokens=256, repeats=9, widths=(1, 3, 5), step_ms_median=(20.0, 30.0, 28.0)
)
PROBES = Probes(
    verification=CURVE,
    drafting=(DraftingProbe(draft="tiny-q8-0", repeats=16, token_ms_median=2.0),),
)


FIRES = trial(drafted_histogram=(0, 2), accepted_histogram=(2,))
TWO_WIDTHS = VerificationProbe(
    context_tokens=1, repeats=1, widths=(2, 3), step_ms_median=(9.0, 9.0)
)


@pytest.mark.parametrize(
    ("method", "made", "probes", "expected"),
    [
        # Always 4 drafted and 2 accepted: 3 tokens for 4 x 2 + 28 = 36 ms, against 20 ms per token.
        (
            DRAFTER,
            trial(drafted_histogram=(0, 0, 0, 0, 10), accepted_histogram=(0, 0, 10)),
            PROBES,
            3 * 20 / 36,
        ),
        # 8 plain rounds and 2 with two tokens, all accepted: 14 tokens for 8 x 20 + 2 x 30 ms.
        (
            LOOKUP,
            trial(drafted_histogram=(8, 0, 2), accepted_histogram=(8, 0, 2)),
            PROBES,
            14 * 20 / 220,
        ),
        (
            Method(type="empty-draft"),
            trial(drafted_histogram=(10,), accepted_histogram=(10,)),
            PROBES,
            1.0,
        ),
        # No prediction: a width beyond the curve, no probes, no single step, no histograms.
        (
            LOOKUP,
            trial(drafted_histogram=(0, 0, 0, 0, 0, 2), accepted_histogram=(2,)),
            PROBES,
            None,
        ),
        (DRAFTER, FIRES, None, None),
        (DRAFTER, FIRES, Probes(), None),
        (DRAFTER, FIRES, Probes(verification=CURVE), None),
        (LOOKUP, FIRES, Probes(verification=TWO_WIDTHS), None),
        (DRAFTER, trial(), PROBES, None),
    ],
)
def test_a_round_yields_its_tokens_and_costs_its_draft_and_its_step(
    method: Method, made: Trial, probes: Probes | None, expected: float | None
) -> None:
    found = predicted_speedup(method, [made], probes)

    assert found == (None if expected is None else pytest.approx(expected))


def test_expected_tokens_multiply_the_chances_of_the_positions() -> None:
    # 1 + 0.8 + 0.8 x 0.5 = 2.2, and a third position that was never reached adds nothing.
    assert expected_tokens((0.8, 0.5), 3) == pytest.approx(2.2)
    assert expected_tokens((0.8, 0.5), 0) == 1.0


def test_widths_between_probed_ones_are_interpolated_and_others_unknown() -> None:
    assert step_ms(CURVE, 2) == pytest.approx(25.0)
    assert step_ms(CURVE, 5) == pytest.approx(28.0)
    assert step_ms(CURVE, 6) is None


def test_drafting_is_free_only_for_look_ups() -> None:
    assert draft_token_ms(LOOKUP, None) == 0.0
    assert draft_token_ms(DRAFTER, PROBES) == 2.0
    assert draft_token_ms(Method(type="draft-model", draft="another", n_max=2), PROBES) is None
    assert draft_token_ms(Method(type="mtp"), PROBES) is None
