"""Run two designs on the same simulated rig: the project's design, and one arm after the other.

The project's design has three blocks or ends by its stopping rule. It is run with the real code
for everything from the plan to the submission, except that no journal is written, because waiting
for the disk would take longer than everything else.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean

from bench.population import ARMS, BASELINE, BLOCKS, DRAFT, OUTPUT_TOKENS, campaign
from bench.rigs import Trouble
from estimates.repeatability import deciding
from harness.campaign.builder import LEAST_BLOCKS, MOST_BLOCKS
from harness.campaign.model import ArmPlan, Campaign, Stopping, SuitePrompt
from harness.campaign.trial_order import plan
from harness.run.journal import ArmFact, EngineFact, Fact, Started, TrialFact
from harness.run.record import assemble, trial_of
from harness.run.stopping import Ended, decide
from harness.runners.base import Failure, Generation, TrialRequest
from schemas.submission import Arm, Cpu, Machine, OperatingSystem, Prompt, Submission
from tests.harness.fake_runner import FakeRig, FakeSession

MACHINE = Machine(
    os=OperatingSystem(family="linux"),
    cpu=Cpu(name="Simulated CPU", architecture="x86_64", logical_cores=2),
    ram_mib=16_384,
)
RULE = Stopping(least_blocks=LEAST_BLOCKS, precision=0.03)
THEN = "2026-11-21T09:00:00Z"
# The duration of an undisturbed baseline trial; a drift needs this duration to span the whole
# campaign.
TRIAL_MS = 900.0


def interleaved(
    rig: FakeRig, trouble: Trouble, prompts: tuple[SuitePrompt, ...], seed: int
) -> Submission:
    """Run a campaign of fixed length in the project's design: paired, interleaved, in blocks."""
    return next(both_lengths(rig, trouble, prompts, seed))


def both_lengths(
    rig: FakeRig, trouble: Trouble, prompts: tuple[SuitePrompt, ...], seed: int
) -> Iterator[Submission]:
    """Yield the campaign with a fixed length, then the same campaign ended by its stopping rule."""
    fixed = campaign(prompts, seed=seed)
    going_on = replace(fixed, blocks=MOST_BLOCKS, stopping=RULE)
    duration_ms = TRIAL_MS * len(prompts) * len(ARMS) * BLOCKS
    session = FakeSession(trouble(rig, random.Random(seed), duration_ms), going_on)  # noqa: S311 - a simulation
    report = session.report()
    facts: list[Fact] = [
        Started(fingerprint="", measured_from=THEN),
        EngineFact(engine=report.engine, settings=report.settings),
        *(ArmFact(arm=_arm(arm)) for arm in ARMS),
    ]
    ended: Ended | None = None
    for block in range(MOST_BLOCKS):
        if block == BLOCKS:
            yield _assembled(fixed, facts, "completed")
        if block >= RULE.least_blocks:
            half_width = deciding(_assembled(going_on, facts, "completed"))
            ended = decide(RULE, blocks=block, half_width=half_width, spent_s=0.0)
            if ended is not None:
                break
        facts += _block(session, going_on, block)
    yield _assembled(going_on, facts, ended or "completed")


def _assembled(planned: Campaign, facts: Sequence[Fact], ended: Ended) -> Submission:
    return assemble(planned, facts, machine=MACHINE, part_s=0.0, ended=ended)


def _block(session: FakeSession, planned: Campaign, block: int) -> Iterator[TrialFact]:
    tasks = {prompt.id: prompt.task for prompt in planned.suite.prompts}
    for item in plan(planned):
        if item.block == block:
            generation = _generate(session, item.arm, item.prompt)
            yield TrialFact(
                trial=trial_of(generation, item, order=item.order),
                prompt=Prompt(
                    id=item.prompt,
                    task=tasks[item.prompt],
                    tokens=generation.prompt_tokens,
                    rendered_sha256=generation.prompt_sha256,
                ),
                tokens=generation.tokens,
                margins=generation.margins,
            )


def one_after_another(
    rig: FakeRig, trouble: Trouble, prompts: tuple[SuitePrompt, ...], seed: int
) -> float:
    """Run all prompts once with one arm, then with the other, as other benchmarks do.

    The speedup is the ratio of the mean rates in tokens per second.
    """
    planned: Campaign = campaign(prompts, seed=seed)
    duration_ms = TRIAL_MS * len(prompts) * 2
    session = FakeSession(trouble(rig, random.Random(seed), duration_ms), planned)  # noqa: S311 - a simulation
    base, own = (
        fmean(_tps(_generate(session, arm.id, prompt.id)) for prompt in prompts)
        for arm in (BASELINE, DRAFT)
    )
    return own / base


def _arm(arm: ArmPlan) -> Arm:
    return Arm(id=arm.id, role=arm.role, method=arm.method, baseline=arm.baseline)


def _generate(session: FakeSession, arm: str, prompt: str) -> Generation:
    request = TrialRequest(arm=arm, prompt=prompt, max_output_tokens=OUTPUT_TOKENS)
    generation = session.generate(request)
    if isinstance(generation, Failure):
        raise TypeError(generation.detail)
    return generation


def _tps(generation: Generation) -> float:
    decode_ms = sum(each.round_ms for each in generation.rounds)
    return 1000 * (len(generation.tokens) - 1) / decode_ms
