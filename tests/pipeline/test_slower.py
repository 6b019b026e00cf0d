"""The page "Why is it slower?" computes as the estimates do and names the likely reasons."""

import random
import re
from pathlib import Path
from typing import Any

import pytest

from estimates.decomposition import tokens_per_round
from estimates.intervals import ratio_interval, time_ratio
from estimates.model import Interval
from estimates.verdicts import judge
from pipeline.site.pages.slower import MOST_PAIRS, knowledge, reasons
from schemas.submission import Trial
from tests import scripts

COMPUTE = """
import { judged, timeRatio, yieldOf } from "./arithmetic.js";
const answer = ({ words, times, runs }) => ({
  intervals: times.map(([writing, request]) => {
    const [found, whole] = [writing, request].map((each) => timeRatio(each, words.quantiles));
    return [found.middle, found.low, found.high, judged(words, found), judged(words, found, whole)];
  }),
  yields: runs.map(yieldOf),
});
"""
EXPLAIN = """
import { reasons } from "./reasons.js";
import { compiled } from "./forms.js";
import { sides } from "./runs.js";
import { figures } from "./tworuns.js";
const none = { plain: null, spec: null, tokens: null, drafted: null, accepted: null, depth: null,
  slots: null, layersWith: null, layersWithout: null };
const answer = ({ known, asked }) => asked.map(({ without, with: with_, typed }) => {
  const patterns = compiled(known.patterns);
  const sided = sides([without, with_], patterns);
  if (sided.asked) return { figures: null };
  const runs = [sided.without, sided.with];
  const found = figures(...runs, { ...none, ...typed }, known);
  return { figures: found, reasons: reasons(found, known).map(({ id, sure }) => [id, sure]) };
});
"""


def trial(tokens: int, accepted: int) -> Trial:
    return Trial(
        arm="a", block=0, order=0, outcome="ok", prompt="p", output_tokens=tokens, accepted=accepted
    )


def drawn_times(rng: random.Random, prompts: int) -> list[tuple[float, float]]:
    """Both times of some prompts, with any ratio between a gain and a loss."""
    ratio = rng.lognormvariate(0, 0.4)
    plain = [rng.uniform(5, 50) for _ in range(prompts)]
    return [(each, each / ratio * rng.lognormvariate(0, 0.1)) for each in plain]


def bounds(interval: Interval | None) -> list[object]:
    if interval is None:
        return [None, None]
    return [pytest.approx(end, rel=1e-5) for end in (interval.low, interval.high)]


def test_intervals_verdicts_and_yields_are_those_of_the_estimates(tmp_path: Path) -> None:
    rng = random.Random(12)  # noqa: S311 - inputs of a test
    counts = [rng.randint(1, 12) for _ in range(1000)]
    times = [(drawn_times(rng, count), drawn_times(rng, count)) for count in counts]
    runs = [
        [
            (tokens := rng.randint(2, 300), rng.randint(0, tokens - 1))
            for _ in range(rng.randint(1, 4))
        ]
        for _ in range(1000)
    ]
    known = knowledge(reasons())
    given = {
        "words": known,
        "times": times,
        "runs": [[{"tokens": n, "accepted": a} for n, a in run] for run in runs],
    }

    found = scripts.run(tmp_path, COMPUTE, given)

    intervals = [(ratio_interval([each]), ratio_interval([whole])) for each, whole in times]
    verdicts = [[judge(own), judge(own, whole)] for own, whole in intervals]
    assert [each[3:] for each in found["intervals"]] == verdicts
    assert {"slower-in-all", "helps", "hurts"} < {whole for _, whole in verdicts}
    assert [each[:3] for each in found["intervals"]] == [
        [pytest.approx(time_ratio([each])), *bounds(own)]
        for (each, _), (own, _) in zip(times, intervals, strict=True)
    ]
    yields = [tokens_per_round([trial(*each) for each in run]) for run in runs]
    assert found["yields"] == [None if each is None else pytest.approx(each) for each in yields]
    assert len(known["quantiles"]) == MOST_PAIRS


def log(*requests: tuple[float, int, int | None, int | None], extra: str = "") -> str:
    """A log of requests: milliseconds, tokens, drafted and accepted tokens."""
    lines = [extra]
    for ms, tokens, drafted, accepted in requests:
        lines.append("prompt eval time = 10.00 ms / 5 tokens (")
        lines.append(
            f"eval time = {ms:.2f} ms / {tokens} tokens (1 ms per token, 1.00 tokens per second)\n"
            f"total time = {ms + 10:.2f} ms / {tokens + 5} tokens"
        )
        if drafted is not None:
            lines.append(f"draft acceptance = 0.5 ({accepted} accepted / {drafted} generated)")
    return "\n".join(lines)


PLAIN = log(*[(1000.0, 101, None, None)] * 3)  # 10 ms a token
CASES: dict[str, tuple[str, str, dict[str, float], list[list[Any]]]] = {
    "a draft model that was never asked": (
        PLAIN, log(*[(1100.0, 101, None, None)] * 3), {}, [["never-drafted", True]],
    ),
    # 50 rounds of 2 drafted tokens yield 2 each and take 40 ms: R = 4, a perfect draft gives 3.
    "no draft could win": (
        PLAIN, log(*[(2000.0, 101, 100, 50)] * 3), {},
        [["cannot-win", True], ["experts-in-memory", False], ["layers-displaced", False],
         ["slow-draft", False]],
    ),
    # 80 rounds of 4 drafted tokens yield 1.25 and take 20 ms: R = 2, and 25 % would break even.
    "too little is accepted": (
        PLAIN, log(*[(1600.0, 101, 320, 20)] * 3), {},
        [["low-acceptance", True], ["layers-displaced", False], ["slow-draft", False]],
    ),
    "layers have left the GPU": (
        f"{PLAIN}\noffloaded 33/33 layers to GPU",
        log(*[(1600.0, 101, 320, 20)] * 3, extra="offloaded 28/33 layers to GPU"), {},
        [["layers-displaced", True], ["low-acceptance", True], ["slow-draft", False]],
    ),
    # Of 400 drafted tokens 4: 100 rounds of 4 yield 1.04 and take 14.6 ms.
    "next to nothing is accepted": (
        PLAIN, log(*[(1400.0, 101, 400, 4)] * 3), {},
        [["nothing-accepted", True], ["layers-displaced", False], ["slow-draft", False]],
    ),
    # 100 tokens in 50 s: 500 ms each. The prompt takes 40 ms a token, before it was 2 ms.
    "no drafts, and a slow prompt": (
        PLAIN, log(*[(50000.0, 101, None, None)] * 3).replace("= 10.00 ms", "= 200.00 ms"), {},
        [["never-drafted", True], ["slow-prompt", True]],
    ),
    "it is faster": (PLAIN, log(*[(500.0, 101, 100, 50)] * 3), {}, [["none", True]]),
    # 40 tokens/s against 25, 500 drafted at depth 8 of which 200: 4.2 of 9 a round, R = 6.72.
    "typed numbers": (
        "", "", {"plain": 40, "spec": 25, "drafted": 500, "accepted": 200, "depth": 8, "slots": 4},
        [["low-acceptance", True], ["several-at-once", False], ["kernel-step", False],
         ["layers-displaced", False], ["slow-draft", False]],
    ),
    # One log alone, of which a twentieth was accepted, at the depth that was typed.
    "one log, few tokens accepted": (
        "", log(*[(1600.0, 101, 320, 20)] * 3), {"depth": 8},
        [["low-acceptance", False], ["kernel-step", False]],
    ),
    "one log, most tokens accepted": ("", log(*[(500.0, 101, 100, 80)] * 3), {}, []),
    "a single short request": (
        log((100.0, 11, None, None)), log((50.0, 11, 10, 5)), {},
        [["none", True], ["too-little", True]],
    ),
    "other requests": (
        PLAIN, log(*[(500.0, 101, 100, 50)] * 4), {}, [["none", True], ["other-texts", True]],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    asked = [
        {"without": without, "with": with_, "typed": typed}
        for without, with_, typed, _ in CASES.values()
    ]
    given = {"known": knowledge(reasons()), "asked": asked}
    found = scripts.run(tmp_path_factory.mktemp("explain"), EXPLAIN, given)
    return dict(zip(CASES, found, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_the_likely_reasons_follow_from_the_figures(
    explained: dict[str, dict[str, Any]], name: str
) -> None:
    assert explained[name]["reasons"] == CASES[name][3]


def test_the_figures_of_a_run_can_be_worked_out_by_hand(
    explained: dict[str, dict[str, Any]],
) -> None:
    found = explained["too little is accepted"]["figures"]
    typed = explained["typed numbers"]["figures"]

    assert (found["middle"], found["yielded"], found["cost"]) == (
        pytest.approx(0.625),
        pytest.approx(1.25),
        pytest.approx(2.0),
    )
    assert (found["needed"], found["acceptance"]) == (pytest.approx(0.25), pytest.approx(0.0625))
    assert found["ceiling"] == pytest.approx(2.5)
    assert found["verdict"] == "hurts"
    assert (typed["yielded"], typed["cost"]) == (pytest.approx(4.2), pytest.approx(6.72))
    assert typed["verdict"] == "too-few-prompts"


def test_every_reason_has_words_and_every_word_a_reason() -> None:
    script = (scripts.SCRIPTS / "reasons.js").read_text("utf-8")
    used = set(re.findall(r'(?:found|check)\(\s*"([a-z-]+)"|id: "([a-z-]+)"', script))

    assert {first or second for first, second in used} == set(reasons()["reason"])
