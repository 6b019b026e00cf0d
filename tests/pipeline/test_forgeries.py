"""Forged files of a new account: what can be caught is serious, and nobody's headline changes."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from hashlib import sha256

import pytest

from bench.strangers import Prepared, State, changed, scaled, state, tables
from estimates.summary import summarize
from pipeline.collection.plausibility import corpus_flags
from schemas.submission import Submission, Trial
from tests.samples import SampleCosts, sample

RTX_4090 = "NVIDIA GeForce RTX 4090"
KNOWN = ("ada", "bob", "cyd")
CPU = SampleCosts(step_ms=90.0, extra_width_ms=60.0)


@cache
def made(contributor: str, seed: int, costs: SampleCosts | None = None) -> Submission:
    return sample(
        seed=seed, gpu=RTX_4090, vram_mib=24564, contributor=contributor, blocks=3, costs=costs
    )


HONEST = tuple(made(name, seed) for seed, name in enumerate(KNOWN))
OWN = made("eve", 50)


def each(change: Callable[[Trial], Trial], of: Submission = OWN) -> Submission:
    return replace(of, trials=tuple(map(change, of.trials)))


def answer(trial: Trial) -> str:
    return sha256(trial.prompt.encode()).hexdigest()[:16]


def accepting(share: float, drift: float = 0.0) -> Submission:
    """Rounds as physics says, so many of their drafts accepted, and made-up answers."""

    def more(trial: Trial) -> Trial:
        if trial.arm != "draft-model-n4":
            return replace(trial, output_sha256=answer(trial))
        rounds = max(1, round(40 / (1 + 4 * share)))
        slower = (1 + drift * trial.order) * rounds / (trial.rounds or 1)
        return replace(
            trial, rounds=rounds, drafted=4 * rounds, accepted=40 - rounds,
            decode_ms=(trial.decode_ms or 0) * slower, output_sha256=answer(trial),
            accepted_histogram=None, drafted_histogram=None, full_rounds=None,
            round_ms_median=None, draft_ms=None, verify_ms=None,
        )  # fmt: skip

    return each(more)


def ticking(tick_ms: float) -> Submission:
    """No noise at all, in multiples of a tick."""
    quiet = made("eve", 51, SampleCosts(noise=0.0))
    return each(
        lambda t: replace(
            t, decode_ms=tick_ms * round((t.decode_ms or 0) / tick_ms), round_ms_median=None,
            draft_ms=None, verify_ms=None,
        ),
        quiet,
    )  # fmt: skip


FORGED: dict[str, tuple[Submission, str | None]] = {
    "F1 arms / 1.6": (scaled(OWN, arms=1 / 1.6), "cheap-rounds"),
    "F2b arms / 1.3": (scaled(OWN, arms=1 / 1.3), None),
    "F3 baseline x 1.4": (scaled(OWN, plain=1.4), None),
    "F4 another card": (made("eve", 52, SampleCosts(step_ms=30.0)), None),
    "F5 a processor called a card": (made("eve", 53, CPU), "below-bandwidth"),
    "F6 no noise, ticks of 4.2 ms": (ticking(4.2), "zero-spread"),
    "F7 shuffled": (replace(OWN, trials=tuple(reversed(OWN.trials))), None),
    "F8 a round costs a plain token": (
        each(lambda t: replace(t, decode_ms=20.0 * (t.rounds or 1), round_ms_median=None)),
        "cheap-rounds",
    ),
    "F9 acceptance .93": (accepting(0.93), "unlike-peers"),
    "F9 acceptance .98": (accepting(0.98), "unlike-peers"),
    "F10 with drift": (accepting(0.9, drift=1 / 4000), "unlike-peers"),
    "F11 peers' answers, cheaper rounds": (scaled(OWN, arms=1 / 1.2), None),
    "F12 one answer": (each(lambda t: replace(t, output_sha256="ab" * 8)), "same-answers"),
}


@cache
def honest() -> State:
    return state(tables([*map(Prepared.of, HONEST)], KNOWN))


@pytest.mark.parametrize("name", FORGED)
def test_a_forgery_is_flagged_where_it_can_be_and_changes_no_headline(name: str) -> None:
    forged, flag = FORGED[name]
    flags = (*summarize(forged).flags, *corpus_flags(forged, HONEST))

    after = state(tables([*map(Prepared.of, (*HONEST, forged))], KNOWN))

    assert flag is None or flag in {f.name for f in flags if f.severity == "serious"}
    assert changed(honest(), after).keys() <= {"unknown"}
