"""Predict a draft's acceptance from the target's own answers, and compare it with a real run.

The target writes answers by itself and with the draft at several depths, interleaved. Then the
draft reads the answers that the target wrote by itself. This reading predicts the acceptance at
each draft position, the tokens per round and, with the curve of the same session, the speedup of
each depth. Predictions are printed next to measurements.
"""

import json
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from estimates.intervals import time_ratio
from harness.acceptance.agreement import agreement
from harness.acceptance.rounds import AtDepth, ReadAnswer, at_depth
from harness.campaign import suite
from harness.campaign.builder import build
from harness.campaign.model import Campaign
from harness.campaign.options import Options
from harness.machine.detect import machine
from harness.models.describe import describe
from harness.models.resolve import resolve
from harness.runners.base import Generation, PreparedArm, Round, TrialRequest
from harness.runners.inprocess.session import LlamaSession
from harness.runners.probes import curve_of, widest
from planner.rounds import Curve
from schemas.method import Method
from schemas.submission import VerificationProbe

DATA = Path("bench/figures/acceptance.json")
TARGET = "smollm2-135m:f16"
DRAFTS = {
    "smollm2-135m:q4_1": "the same weights in Q4_1",
    "smollm2-135m:q4_1-pruned-3": "Q4_1 without three of 30 layers",
}
LEAST_ROUNDS = 100  # positions with fewer rounds are not compared

Answers = dict[str, dict[str, Generation]]  # generations by arm and prompt


def main(
    prompts: Annotated[int, typer.Option(min=1, max=8, help="Number of prompts per task.")] = 2,
    tokens: Annotated[int, typer.Option(help="Maximum output length in tokens.")] = 96,
    depths: Annotated[str, typer.Option(help="Draft lengths to compare.")] = "1,2,3,4,5,6,7,8",
    *,
    speedups: Annotated[
        bool, typer.Option(help="Also compare times; needs a quiet machine.")
    ] = False,
) -> None:
    """Measure, print, and write the figures that the page Proofs shows."""
    wanted = [*map(int, depths.split(","))]
    rows = [
        {"draft": words, **row}
        for name, words in DRAFTS.items()
        for row in compared(campaign_of(name, prompts, tokens, wanted), speedups=speedups)
    ]
    off = {
        name: [abs(row["speedup_off"]) for row in rows if row["draft"] == name]
        for name in (DRAFTS.values() if speedups else ())
    }
    timed = " --speedups" if speedups else ""
    figures = {
        "command": f"python -m bench.acceptance --prompts {prompts} --tokens {tokens} "
        f"--depths {depths}{timed}",
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": machine().cpu.name,
        "rows": rows,
        "speedups": [
            {"draft": name, "depths": depths, "median": statistics.median(each), "most": max(each)}
            for name, each in off.items()
        ],
    }
    DATA.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=2))  # noqa: T201 - the result of this command


def campaign_of(draft: str, prompts: int, tokens: int, depths: Sequence[int]) -> Campaign:
    """A campaign that runs the target by itself and with the draft at each depth."""
    options = Options(
        prompts=(str(prompts),), blocks=1, max_output_tokens=tokens, threads=1, gpu_layers=0
    )
    target, small = (describe(resolve(each, say=_say), say=_say) for each in (TARGET, draft))
    return build(
        options,
        target=target,
        drafts=(small,),
        methods=tuple(Method(type="draft-model", n_max=n) for n in depths),
        suite=suite.select(suite.load("core"), prompts=options.prompts),
    )


def compared(campaign: Campaign, *, speedups: bool) -> Iterator[dict[str, float]]:
    """Yield one row per depth, with predicted and counted values."""
    answers, probe, drafting_ms = _answers(campaign)
    plain = answers["baseline"]
    read = _read(campaign, plain)
    curve = Curve(probe=probe, source="the same session")
    for arm in campaign.arms:
        depth = arm.method.n_max
        if depth is not None:
            found = at_depth(read, depth, curve=curve, drafting_ms=drafting_ms)
            row = _row(campaign, found, answers[arm.id], plain)
            timed = _speedups(found, answers[arm.id], plain) if speedups else {}
            yield {"depth": depth, **row, **timed}


def _row(
    campaign: Campaign,
    found: AtDepth,
    drafted: dict[str, Generation],
    plain: dict[str, Generation],
) -> dict[str, float]:
    rounds = [each for answer in drafted.values() for each in _rounds(answer)]
    tried, reached = _counted(rounds, found.depth)
    apart = [
        abs(predicted - accepted / count)
        for predicted, count, accepted in zip(found.acceptance, tried, reached, strict=True)
        if count >= LEAST_ROUNDS and predicted is not None
    ]
    return {
        "rounds": len(rounds),
        "same_text": sum(drafted[name].tokens == plain[name].tokens for name in plain) / len(plain),
        "tokens_predicted": found.tokens_per_round.estimate,
        "tokens_counted": _tokens(campaign, drafted),
        "positions": len(apart),
        "furthest_apart": max(apart, default=0.0),
        "acceptance": sum(reached) / sum(each.drafted for each in rounds),
    }


def _speedups(
    found: AtDepth, drafted: dict[str, Generation], plain: dict[str, Generation]
) -> dict[str, float]:
    speedup = _token_ms(plain.values()) / _token_ms(drafted.values())
    assert found.speedup is not None
    predicted = found.speedup.estimate
    return {
        "speedup_predicted": predicted,
        "speedup": speedup,
        "speedup_off": predicted / speedup - 1,
    }


def _counted(rounds: Sequence[Round], depth: int) -> tuple[list[int], list[int]]:
    """Count, for each draft position, the rounds that tried it and the rounds that accepted it."""
    tried = [sum(r.drafted > k and r.accepted >= k for r in rounds) for k in range(depth)]
    return tried, [sum(r.accepted > k for r in rounds) for k in range(depth)]


def _tokens(campaign: Campaign, answers: dict[str, Generation]) -> float:
    """Tokens per round over all tasks, computed as for a result file."""
    tasks: dict[str, list[tuple[float, float]]] = {}
    for prompt in campaign.suite.prompts:
        answer = answers[prompt.id]
        per_token = len(_rounds(answer)) / (answer.output_tokens - 1)
        tasks.setdefault(prompt.task, []).append((1.0, per_token))
    return time_ratio([*tasks.values()])


def _rounds(answer: Generation) -> tuple[Round, ...]:
    assert isinstance(answer.rounds, tuple)
    return answer.rounds


def _token_ms(answers: Iterable[Generation]) -> float:
    """Mean milliseconds per token, with equal weight for each prompt."""
    return statistics.fmean(each.decode_ms / (each.output_tokens - 1) for each in answers)


def _answers(campaign: Campaign) -> tuple[Answers, VerificationProbe, float]:
    """Run the arms interleaved; return answers, step times by width and ms per drafted token."""
    session = LlamaSession(campaign)
    answers: Answers = {arm.id: {} for arm in campaign.arms}
    for arm in campaign.arms:
        assert isinstance(session.prepare(arm.id), PreparedArm)
    widths = range(1, widest(campaign) + 1)
    steps, drafting_ms = [], []
    for number, prompt in enumerate(campaign.suite.prompts):
        arms = campaign.arms if number % 2 else campaign.arms[::-1]
        for arm in arms:
            limit = campaign.settings.max_output_tokens
            request = TrialRequest(arm=arm.id, prompt=prompt.id, max_output_tokens=limit)
            answer = session.generate(request)
            assert isinstance(answer, Generation), answer
            answers[arm.id][prompt.id] = answer
        # Timed between prompts, so that a busy machine slows rounds and steps alike.
        steps += [session.step_times(widths) for _ in range(2)]
        drafting_ms += [each.token_ms_median for each in session.probe().drafting or ()]
        _say(prompt.id)
    session.close()
    times = dict(zip(widths, zip(*(each.ms for each in steps), strict=True), strict=True))
    curve = curve_of(times, context_tokens=steps[0].context_tokens)
    return answers, curve, statistics.median(drafting_ms)


def _read(campaign: Campaign, plain: dict[str, Generation]) -> list[ReadAnswer]:
    wide = replace(campaign.arms[0], method=Method(type="none", n_max=15))
    reader = LlamaSession(replace(campaign, target=campaign.drafts[0], drafts=(), arms=(wide,)))
    limit, read = campaign.settings.max_output_tokens, []
    for prompt in campaign.suite.prompts:
        answer = plain[prompt.id]
        found = agreement(reader, answer.prompt_ids or (), answer.tokens or (), rows=16)
        read.append(ReadAnswer(task=prompt.task, agrees=found.agrees, limit=limit))
    reader.close()
    return read


def _say(text: str) -> None:
    typer.echo(text, err=True)


if __name__ == "__main__":
    typer.run(main)
