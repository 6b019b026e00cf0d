"""Run two designs on the same simulated rig: the project's design, and one arm after the other.

The project's design has three blocks. It is run with the real code for everything from the plan to
the submission, except that no journal is written, because waiting for the disk would take longer
than everything else.
"""

import random
from collections.abc import Iterator
from statistics import fmean

from bench.population import ARMS, BASELINE, BLOCKS, DRAFT, OUTPUT_TOKENS, campaign
from bench.rigs import Trouble
from harness.campaign.model import ArmPlan, Campaign, SuitePrompt
from harness.campaign.trial_order import plan
from harness.run.journal import ArmFact, EngineFact, Fact, Started, TrialFact
from harness.run.record import assemble, trial_of
from harness.runners.base import Failure, Generation, TrialRequest
from schemas.submission import Arm, Cpu, Machine, OperatingSystem, Prompt, Submission
from tests.harness.fake_runner import FakeRig, FakeSession

MACHINE = Machine(
    os=OperatingSystem(family="linux"),
    cpu=Cpu(name="Simulated CPU", architecture="x86_64", logical_cores=2),
    ram_mib=16_384,
)
THEN = "2026-11-21T09:00:00Z"
# The duration of an undisturbed baseline trial; a drift needs this duration to span the whole
# campaign.
TRIAL_MS = 900.0


def interleaved(
    rig: FakeRig, trouble: Trouble, prompts: tuple[SuitePrompt, ...], seed: int
) -> Submission:
    """Run a campaign in the project's design: paired, interleaved, in blocks."""
    planned = campaign(prompts, seed=seed)
    duration_ms = TRIAL_MS * len(prompts) * len(ARMS) * BLOCKS
    session = FakeSession(trouble(rig, random.Random(seed), duration_ms), planned)  # noqa: S311 - a simulation
    report = session.report()
    facts: list[Fact] = [
        Started(fingerprint="", measured_from=THEN),
        EngineFact(engine=report.engine, settings=report.settings),
        *(ArmFact(arm=_arm(arm)) for arm in ARMS),
        *_trials(session, planned),
    ]
    return assemble(planned, facts, machine=MACHINE, part_s=0.0, ended="completed")


def _trials(session: FakeSession, planned: Campaign) -> Iterator[TrialFact]:
    tasks = {prompt.id: prompt.task for prompt in planned.suite.prompts}
    for item in plan(planned):
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
