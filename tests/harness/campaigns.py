"""Small campaigns for tests of the harness, built from a handful of values."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

from harness.campaign.model import ArmPlan, Campaign, PromptSuite, RunSettings, SuitePrompt
from harness.models.describe import describe
from harness.models.model_file import ModelFile, WeightsFile
from harness.report.events import Event
from harness.run.execute import RunContext, by_blocks
from harness.runners.base import Runner
from schemas.method import NO_SPECULATION, Method
from schemas.submission import Cpu, Machine, Model, OperatingSystem, Snapshot, Submission
from tests.harness.fake_runner import FakeRig, FakeSession

BASELINE = ArmPlan(id="baseline", role="baseline", method=NO_SPECULATION)
LOOKUP = ArmPlan(
    id="prompt-lookup-n8",
    role="speculation",
    method=Method(type="prompt-lookup", n_max=8, ngram_min=2, ngram_max=4),
    baseline="baseline",
)
DRAFT = ArmPlan(
    id="draft-model-n4",
    role="speculation",
    method=Method(type="draft-model", draft="draft", n_max=4),
    baseline="baseline",
)
MACHINE = Machine(
    os=OperatingSystem(family="linux"),
    cpu=Cpu(name="Test CPU", architecture="x86_64", logical_cores=2),
    ram_mib=24_000,
)


def campaign(  # noqa: PLR0913 - a builder: each argument is one thing a test may want to vary
    *,
    arms: tuple[ArmPlan, ...] = (BASELINE, LOOKUP, DRAFT),
    prompts: int = 2,
    texts: tuple[str, ...] | None = None,
    blocks: int = 2,
    max_output_tokens: int = 12,
    target: Path = Path("target.gguf"),
    draft: Path = Path("draft.gguf"),
    context_tokens: int = 2048,
    seed: int = 0,
) -> Campaign:
    """A campaign over code prompts with the ids `code-1`, `code-2` and so on."""
    texts = texts or ("Write a loop.",) * prompts
    suite = PromptSuite(
        id="test",
        version="1.0.0",
        sha256="0" * 64,
        prompts=tuple(
            SuitePrompt(id=f"code-{number}", task="code", text=text, quick=False)
            for number, text in enumerate(texts, start=1)
        ),
        max_output_tokens=max_output_tokens,
        quick_max_output_tokens=max_output_tokens,
    )
    return Campaign(
        profile="custom",
        target=ModelFile(path=target, model=Model(id="target", name="T", quantisation="F16")),
        drafts=(ModelFile(path=draft, model=Model(id="draft", name="D", quantisation="Q4_1")),),
        arms=arms,
        suite=suite,
        settings=RunSettings(
            max_output_tokens=max_output_tokens, context_tokens=context_tokens, threads=1
        ),
        blocks=blocks,
        seed=seed,
    )


def of_real_files(planned: Campaign) -> Campaign:
    """The campaign with models described by `run`, under the same ids."""

    def described(file: ModelFile) -> ModelFile:
        assert file.path is not None
        found = describe(WeightsFile(path=file.path), say=lambda _text: None)
        return replace(found, model=replace(found.model, id=file.model.id))

    drafts = tuple(map(described, planned.drafts))
    return replace(planned, target=described(planned.target), drafts=drafts)


def context(observe: Callable[[Event], None] = lambda _event: None) -> RunContext:
    """A fake machine; each reading advances its date by an hour and its clock by 2 s."""
    hours = iter(range(24))
    return RunContext(
        machine=MACHINE,
        snapshot=lambda moment: Snapshot(moment=moment, load_1min=0.1, available_ram_mib=16_000),
        now=lambda: f"2026-11-21T{next(hours):02d}:00:00Z",
        clock=count(step=2.0).__next__,
        observe=observe,
    )


def run(
    plan: Campaign,
    work_file: Path,
    *,
    rig: FakeRig | None = None,
    runner: Runner | None = None,
    resume: bool = False,
    observe: Callable[[Event], None] = lambda _event: None,
) -> Submission:
    """Run a campaign on a simulated rig, or with another runner."""
    return measure(
        plan,
        runner=runner or partial(FakeSession, rig or FakeRig()),
        context=context(observe),
        work_file=work_file,
        resume=resume,
    )


def measure(
    campaign: Campaign, *, runner: Runner, context: RunContext, work_file: Path, resume: bool
) -> Submission:
    """Run a campaign without pauses for other engines, and return the result."""
    running = by_blocks(
        campaign, runner=runner, context=context, work_file=work_file, resume=resume
    )
    while True:
        try:
            next(running)
        except StopIteration as end:
            submission: Submission = end.value
            return submission
