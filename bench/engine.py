"""Compare the in-process engine with a peer: `make bench-engine` measures both in one run.

Both sides use the same files, threads, context, batch, cache types and flash attention. The sides
alternate prompt by prompt, and their order is reversed from block to block. The figure is the
median of the paired ratios, so a shared machine makes the run slower but does not distort the
figure.
"""

import json
import math
import statistics
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import llama_cpp
import typer

from bench.engine_peer import REQUIREMENT, Peer
from bench.engine_truth import oracle
from estimates.intervals import t_interval
from harness.campaign import suite
from harness.campaign.builder import build
from harness.campaign.model import Campaign
from harness.campaign.options import Options
from harness.machine.detect import machine
from harness.models.describe import describe
from harness.models.model_file import ModelFile
from harness.models.resolve import resolve
from harness.runners.base import Generation, PreparedArm, TrialRequest
from harness.runners.inprocess.session import LlamaSession
from schemas.method import Method

DATA = Path("bench/figures/engine.json")
THREADS = 1
N_MAX = 4
TASK = "creative"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """Our tokens per second over the peer's: the median of all pairs, and a t interval."""

    what: str
    ratio: float
    low: float
    high: float
    pairs: int
    same_tokens: int
    target: str


def main(
    prompts: Annotated[
        int, typer.Option(min=2, max=4, help="Number of prompts, shortest first.")
    ] = 4,
    blocks: Annotated[int, typer.Option(min=1, help="Number of passes over the prompts.")] = 6,
    tokens: Annotated[int, typer.Option(help="Maximum output length in tokens.")] = 48,
) -> None:
    """Measure, print, and write the figures that the pages quote."""
    f16, q4 = (
        describe(resolve(f"smollm2-135m:{kind}", say=_say), say=_say) for kind in ("f16", "q4_1")
    )
    chosen = _shortest(prompts)
    drafting = _campaign(f16, (q4,), chosen, blocks, tokens)
    figures: dict[str, object] = {
        "command": f"python -m bench.engine --prompts {prompts} --blocks {blocks} "
        f"--tokens {tokens}",
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": machine().cpu.name,
        "threads": THREADS,
        "peer": REQUIREMENT,
        "ours_built_with": llama_cpp.llama_print_system_info().decode().strip(),
    }
    ratios = _against_server(drafting, f16, q4)
    plain = _against_server(_campaign(q4, (), chosen, blocks, tokens), q4, None)
    figures["ratios"] = [asdict(each) for each in (*ratios, *plain)]
    _write(figures)
    figures["oracle"] = [oracle(_campaign(f16, (), chosen, _ORACLE_BLOCKS, tokens))]
    _write(figures)
    print(json.dumps(figures, indent=2))  # noqa: T201 - the result of this command


def _write(figures: dict[str, object]) -> None:
    """Write the figures measured so far; each further measurement takes minutes."""
    DATA.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


_ORACLE_BLOCKS = 2


def _say(text: str) -> None:
    typer.echo(text, err=True)


def _shortest(count: int) -> tuple[str, ...]:
    """Take the shortest prompts of one task: an interval needs several prompts of one task."""
    fitting = (prompt for prompt in suite.load("core").prompts if prompt.task == TASK)
    by_length = sorted(fitting, key=lambda prompt: len(prompt.text))
    return tuple(prompt.id for prompt in by_length[:count])


def _campaign(
    target: ModelFile, drafts: tuple[ModelFile, ...], chosen: Sequence[str], blocks: int, limit: int
) -> Campaign:
    options = Options(
        prompts=tuple(chosen), blocks=blocks, max_output_tokens=limit, threads=THREADS, gpu_layers=0
    )
    return build(
        options,
        target=target,
        drafts=drafts,
        methods=(Method(type="draft-model", n_max=N_MAX),) if drafts else (),
        suite=suite.select(suite.load("core"), prompts=options.prompts),
    )


def _against_server(campaign: Campaign, target: ModelFile, draft: ModelFile | None) -> list[Ratio]:
    """Compare every arm of the campaign with a llama.cpp server that has the same settings."""
    session = LlamaSession(campaign)
    for arm in campaign.arms:
        if not isinstance(session.prepare(arm.id), PreparedArm):
            raise TypeError(f"{arm.id} did not run")
    extra: list[tuple[str, ...]] = [()]
    if draft is not None:
        sizes = f"--spec-draft-n-max {N_MAX} --spec-draft-n-min 0 --spec-draft-p-min 0 -ngld 0"
        extra.append(("-md", str(draft.path), "--spec-type", "draft-simple", *sizes.split()))
    with ExitStack() as stack:
        stack.callback(session.close)
        peers = [
            stack.enter_context(Peer(target.path, campaign.settings, draft=words))
            for words in extra
        ]
        return [
            _compared(session, peer, campaign, arm.id)
            for peer, arm in zip(peers, campaign.arms, strict=True)
        ]


def _compared(session: LlamaSession, peer: Peer, campaign: Campaign, arm: str) -> Ratio:
    logs: list[float] = []
    same = 0
    limit = campaign.settings.max_output_tokens
    for block in range(campaign.blocks + 1):
        for number, prompt in enumerate(campaign.suite.prompts):
            first = (block + number) % 2 == 0
            ours = _ours(session, arm, prompt.id, limit) if first else None
            answer = peer.complete(session.tokens_of(prompt.id), limit)
            our_tps, our_tokens = ours or _ours(session, arm, prompt.id, limit)
            if block:  # the first pass warms both sides up
                logs.append(math.log(our_tps / answer.tps))
                same += our_tokens == answer.tokens
    interval = t_interval(tuple(logs))
    return Ratio(
        what=f"{campaign.target.model.quantisation} {arm}, ours over the server's tokens/s",
        ratio=round(math.exp(statistics.median(logs)), 4),
        low=round(interval.low, 4) if interval else math.nan,
        high=round(interval.high, 4) if interval else math.nan,
        pairs=len(logs),
        same_tokens=same,
        target="\N{GREATER-THAN OR EQUAL TO} 0.97"
        if arm == "baseline"
        else "\N{GREATER-THAN OR EQUAL TO} 1.00",
    )


def _ours(
    session: LlamaSession, arm: str, prompt: str, limit: int
) -> tuple[float, tuple[int, ...]]:
    answer = session.generate(TrialRequest(arm=arm, prompt=prompt, max_output_tokens=limit))
    if not isinstance(answer, Generation):
        raise TypeError(f"{arm} failed: {answer.detail}")
    return (len(answer.tokens) - 1) / answer.decode_ms * 1000, answer.tokens


if __name__ == "__main__":
    typer.run(main)
