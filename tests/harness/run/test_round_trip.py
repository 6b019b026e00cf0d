"""The gate accepts every file of the harness, for random campaigns, failures and ends."""

import random
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from harness.campaign import builder as campaigns
from harness.campaign.model import Campaign, PromptSuite, SuitePrompt
from harness.campaign.options import Options
from harness.errors import MachineError
from harness.models.model_file import ModelFile
from harness.run import result_file
from harness.run.execute import RunContext
from harness.runners.base import EngineReport, Generation, Session, TrialRequest
from harness.runners.base import Failure as Failed
from schemas import contract
from schemas.method import NO_SPECULATION, Method
from schemas.submission import Reason, Submission
from tests.harness.campaigns import MACHINE, measure
from tests.harness.fake_runner import FakeRig, FakeSession
from tests.nightly import few
from tests.pipeline.tables import findings
from tests.samples import sample

CAMPAIGNS = 40
KNOWN = sample()
METHODS = (
    Method(type="prompt-lookup", n_max=8, ngram_min=2, ngram_max=4),
    Method(type="draft-model", n_max=4),
    Method(type="empty-draft"),
    Method(type="oracle", n_max=3, acceptance=0.5),
    NO_SPECULATION,
)
REASONS: tuple[Reason, ...] = ("crashed", "timed-out", "bad-answer", "out-of-memory")
# Ctrl-C comes in this trial of a session, or never.
NEVER = 10_000


class InProcess(FakeSession):
    """A fake engine that describes itself as the in-process one, and can be interrupted."""

    left = NEVER

    def report(self) -> EngineReport:
        """Facts of a real engine, so that all rules for such an engine apply to the file."""
        made = super().report()
        settings = replace(
            KNOWN.settings,
            max_output_tokens=made.settings.max_output_tokens,
            context_tokens=made.settings.context_tokens,
        )
        return replace(made, engine=replace(KNOWN.engine, backend="cpu"), settings=settings)

    def prepare(self, arm: str):  # type: ignore[no-untyped-def]  # noqa: ANN201 - as the base has it
        """Prepare an arm with the requested layers of its draft."""
        made = super().prepare(arm)
        placement = getattr(made, "placement", None)
        if placement is None:
            return made
        return replace(made, placement=replace(placement, draft_gpu_layers_requested=0))

    def generate(self, request: TrialRequest) -> Generation | Failed:
        """Answer, until Ctrl-C."""
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().generate(request)


class RecordedRunner:
    """Opens such sessions; the first one may be interrupted."""

    def __init__(self, rig: FakeRig, *, stops_after: int) -> None:
        self._rig, self._left = rig, stops_after

    def __call__(self, campaign: Campaign) -> Session:
        """Open a session; a second one is not interrupted."""
        session = InProcess(self._rig, campaign)
        session.left, self._left = self._left, NEVER
        return session


@pytest.mark.parametrize("seed", few(range(CAMPAIGNS), 14))
def test_the_gate_accepts_what_the_harness_writes(seed: int, tmp_path: Path) -> None:
    submission = written(seed, tmp_path / "work.jsonl")
    if submission is None:
        return

    path = result_file.write(submission, tmp_path / "results" / "community")

    assert not findings(tmp_path / "results")
    assert contract.findings(path.read_bytes()) == ()


def test_the_random_campaigns_include_every_kind_of_end(tmp_path: Path) -> None:
    ends = [written(seed, tmp_path / f"{seed}.jsonl") for seed in range(CAMPAIGNS)]
    made = [each for each in ends if each is not None]

    assert 0 < len(ends) - len(made) < CAMPAIGNS / 5
    assert {each.design.ended for each in made} >= {
        "completed", "budget-spent", "interrupted",
    }  # fmt: skip
    assert any(each.design.resumed for each in made)
    assert any(arm.outcome == "failed" for each in made for arm in each.arms)
    assert any(trial.outcome == "failed" for each in made for trial in each.trials)
    assert {arm.role for each in made for arm in each.arms} == {
        "baseline", "speculation", "control", "alternative",
    }  # fmt: skip


def written(seed: int, work_file: Path) -> Submission | None:
    """The file of a random campaign; `None` if all drafting arms fail, so nothing is compared."""
    try:
        return measured(random.Random(seed), work_file)  # noqa: S311 - simulated data
    except MachineError as error:
        if not str(error).startswith("nothing to compare: "):
            raise
        return None


def measured(rng: random.Random, work_file: Path) -> Submission:
    """Measure a random campaign; some are interrupted and perhaps resumed."""
    campaign = _campaign(rng)
    others = [arm.id for arm in campaign.arms if arm.role != "baseline"]
    rig = FakeRig(
        noise=rng.choice((0.0, 0.02)),
        default_acceptance=rng.random(),
        failing_arms={arm: rng.choice(REASONS) for arm in others if rng.random() < 0.1},
        failing_trials={rng.randrange(40): rng.choice(REASONS) for _ in range(rng.randint(0, 5))},
    )
    stops = rng.randint(1, 12) if rng.random() < 0.4 else NEVER
    runner = RecordedRunner(rig, stops_after=stops)
    minutes = count()
    around = RunContext(
        machine=MACHINE,
        snapshot=lambda moment: replace(KNOWN.environment[0], moment=moment),  # type: ignore[index]  # it has one
        now=lambda: f"2026-11-21T09:{next(minutes):02d}:00Z",
        clock=count(step=7.0).__next__,
    )

    def once(*, resume: bool) -> Submission:
        return measure(
            campaign,
            runner=runner,
            context=around,
            work_file=work_file,
            resume=resume,
        )

    first = once(resume=False)
    return once(resume=True) if rng.random() < 0.5 else first


def _campaign(rng: random.Random) -> Campaign:
    quick = rng.random() < 0.2
    methods = tuple(rng.sample(METHODS, rng.randint(1, 4)))
    fixed = quick or rng.random() < 0.5
    options = Options(
        quick=quick,
        blocks=rng.randint(1, 4) if fixed else None,
        budget_min=None if fixed else rng.choice((0.4, 30.0)),
        max_output_tokens=rng.choice((1, 2, 24)),
        control=rng.random() < 0.2,
        baseline_gpu_layers=rng.choice((None, None, -1, 12)),
        seed=rng.randrange(1000),
    )
    prompts = tuple(
        SuitePrompt(id=f"{task}-{number}", task=task, text="Go on.", quick=True)
        for task in ("code", "chat")
        for number in range(1, rng.randint(2, 3))
    )
    suite = PromptSuite(
        id="test",
        version="1.0.0",
        sha256="0" * 64,
        prompts=prompts,
        max_output_tokens=24,
        quick_max_output_tokens=12,
    )
    return campaigns.build(
        options,
        target=ModelFile(path=Path("target.gguf"), model=KNOWN.target),
        drafts=(ModelFile(path=Path("draft.gguf"), model=KNOWN.drafts[0]),),
        methods=methods,
        suite=suite,
    )
