"""Forgeries of a new account get a serious flag, and its files change no one else's statement."""

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from hashlib import sha256

import pytest

from bench import strangers
from bench.strangers import STRANGERS, Prepared, State, changed, scaled, state, tables
from estimates.summary import summarize
from pipeline.site.rows import read
from schemas.submission import Submission, Trial
from tests.nightly import few
from tests.pipeline.corpus_examples import corpus_flags
from tests.sample_trials import slower
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
    """Physically plausible rounds with a share of accepted drafts, and simulated answers."""

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


def made_on(card: str) -> Submission:
    return sample(seed=54, gpu=card, vram_mib=24564, contributor="eve", blocks=3)


def ticking(tick_ms: float) -> Submission:
    """Times without noise, in multiples of a tick."""
    quiet = made("eve", 51, SampleCosts(noise=0.0))
    return each(
        lambda t: replace(
            t, decode_ms=tick_ms * round((t.decode_ms or 0) / tick_ms), round_ms_median=None,
            draft_ms=None, verify_ms=None,
        ),
        quiet,
    )  # fmt: skip


def in_steps(r: float) -> Submission:
    """Rounds of the draft model that take `r` plain tokens."""
    return each(
        lambda t: (
            t
            if t.arm == "baseline"
            else replace(t, decode_ms=r * 20.0 * (t.rounds or 1), round_ms_median=None)
        )
    )


def copying(share: float, factor: float = 1.0) -> Submission:
    """A share of bob's trials, the first ones, with times multiplied by a factor."""
    taken = HONEST[1].trials[: int(share * len(OWN.trials))]
    places = {(t.arm, t.prompt, t.block) for t in taken}
    rest = tuple(t for t in OWN.trials if (t.arm, t.prompt, t.block) not in places)
    trials = tuple(replace(t, order=at) for at, t in enumerate((*taken, *rest)))
    return scaled(replace(OWN, trials=trials), arms=factor, plain=factor)


def repeating() -> Submission:
    """Times of the first block in all blocks."""
    first = {(t.arm, t.prompt): t for t in OWN.trials if t.block == 0}
    kept = ("order", "block", "compared_tokens")
    return each(
        lambda t: replace(first[t.arm, t.prompt], **{name: getattr(t, name) for name in kept})
    )


def one_text() -> Submission:
    """One rendered text for all prompts."""
    prompts = tuple(replace(each, rendered_sha256="ab" * 8) for each in OWN.suite.prompts)
    return replace(OWN, suite=replace(OWN.suite, prompts=prompts))


WALL_KEPT = each(
    lambda t: (
        t if t.arm == "baseline" else replace(slower(t, 1 / 1.6), draft_ms=None, verify_ms=None)
    )
)
BACKWARDS = replace(
    OWN, trials=tuple(replace(t, order=at) for at, t in enumerate(reversed(OWN.trials)))
)

# The forged field, the serious flag next to honest files, and the map's entry if nobody else has
# measured the pair: the draft model's speedup over all tasks and its sign, or nothing. A forgery
# without a flag cannot be distinguished from a sound campaign on another machine.
FORGED: dict[str, tuple[Submission, str | None, str | None]] = {
    "F1 arms / 1.6, whole requests as they were": (WALL_KEPT, "cheap-rounds", None),
    "F2 arms / 1.6": (scaled(OWN, arms=1 / 1.6), "cheap-rounds", None),
    "F2b arms / 1.3": (scaled(OWN, arms=1 / 1.3), "cheap-rounds", None),
    "F3 baseline x 1.4": (scaled(OWN, plain=1.4), "cheap-rounds", None),
    "F4 another card": (made("eve", 52, SampleCosts(step_ms=30.0)), None, "2.01 helps"),
    "F5 a processor called a card": (made("eve", 53, CPU), "below-bandwidth", "0.82 uncertain"),
    "F6 no noise, ticks of 4.2 ms": (ticking(4.2), "zero-spread", None),
    "F7 shuffled": (BACKWARDS, None, "1.71 helps"),
    "F8 a round costs a plain token": (in_steps(1.0), "cheap-rounds", None),
    "F8b a round costs 1.1 plain tokens": (in_steps(1.1), "cheap-rounds", None),
    "F9 acceptance .93": (accepting(0.93), "unlike-peers", "2.77 helps"),
    "F9b acceptance .75": (accepting(0.75), "unlike-peers", "2.22 helps"),
    "F10 with drift": (accepting(0.9, drift=1 / 4000), "unlike-peers", "2.4 helps"),
    "F11 peers' answers, cheaper rounds": (scaled(OWN, arms=1 / 1.2), None, "2.05 helps"),
    "F12 one answer": (
        each(lambda t: replace(t, output_sha256="ab" * 8)), "same-answers", "1.71 uncertain",
    ),
    "F12b one rendered text": (one_text(), "same-answers", "1.71 uncertain"),
    "F12c without noise": (repeating(), "zero-spread", None),
    "all times / 10": (scaled(OWN, arms=0.1, plain=0.1), "above-roofline", None),
    "a copy": (copying(1.0), "copied-times", "1.71 helps"),
    "a quarter of a copy": (copying(0.25), "copied-times", "1.71 helps"),
    "a copy times 1.03": (copying(1.0, 1.03), "copied-times", "1.71 helps"),
    "no card's name": (made_on("NVIDIA Graphics Device"), None, None),
    "another model of the name": (
        replace(OWN, target=replace(OWN.target, layers=31)), "another-model", "1.71 helps",
    ),
}  # fmt: skip
SHOWN = (
    "select concat_ws(' ', round(speedup, 2), verdict) from cell"
    " where method = 'draft-model' and task = 'all'"
)


@cache
def honest() -> State:
    return state(tables([*map(Prepared.of, HONEST)], KNOWN))


@pytest.mark.parametrize("name", few(FORGED, 2))
def test_a_detectable_forgery_is_flagged_and_changes_no_headline(name: str) -> None:
    forged, flag, _ = FORGED[name]
    flags = (*summarize(forged).flags, *corpus_flags(forged, HONEST, KNOWN))

    after = state(tables([*map(Prepared.of, (*HONEST, forged))], KNOWN))

    assert flag is None or flag in {f.name for f in flags if f.severity == "serious"}
    assert changed(honest(), after).keys() <= {"unknown"}


@pytest.mark.parametrize("name", few(FORGED, 2))
def test_a_forgery_without_other_results_is_shown_with_its_reservations(name: str) -> None:
    forged, _, shown = FORGED[name]

    alone = tables([Prepared.of(forged)], KNOWN)

    assert alone.execute(SHOWN).fetchall() == ([] if shown is None else [(shown,)])
    # Its row comes last and says so.
    assert {each.backing for each in read(alone, "pair")} <= {2}  # type: ignore[arg-type]


def test_dormant_accounts_decide_nothing_until_maintainers_know_two_of_them() -> None:
    sleepers = [scaled(made(name, 60 + at), arms=1 / 1.2) for at, name in enumerate(STRANGERS)]
    files = [*map(Prepared.of, (*HONEST, *sleepers))]
    found = [
        changed(honest(), state(tables(files, (*KNOWN, *STRANGERS[:known])))) for known in (0, 2)
    ]

    assert found[0].keys() <= {"unknown"}
    assert found[1]["sign"]


@pytest.mark.parametrize("worlds", few([1, 3], 1))
def test_strangers_change_nothing_in_a_few_worlds(worlds: int) -> None:
    (found,) = strangers.collections(worlds, first=8)

    assert (len(found["accepted"][0]), len(found["three"][0])) == (worlds, 3 * worlds)
    for who in ("accepted", "three"):
        _, before, change = found[who]
        assert {key[0] for key in before} >= {*strangers.KINDS} - {"confirmed", "unknown"}
        assert {*change} <= {"unknown"}


def test_without_known_people_an_unknown_account_changes_the_statements() -> None:
    rng = random.Random(1)  # noqa: S311 - a simulation
    there = [
        strangers.measured(rng, person, "NVIDIA GeForce RTX 4090", 7_000_000_000)
        for person in ("ada", "bob")
    ]
    slow = strangers.ATTACKS["arms slower"](there[0], there[1], rng)
    honest = [*map(Prepared.of, there)]
    strange = Prepared.of(replace(slow, contributor="eve"))

    for known, is_changed in ((("ada", "bob"), False), ((), True)):
        before = state(tables(honest, known))
        after = state(tables([*honest, strange], known))
        assert bool(changed(before, after)) == is_changed
