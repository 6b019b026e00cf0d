"""The in-process runner decodes like the engine and counts correctly, on real weights."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from harness.campaign.model import ArmPlan, Campaign
from harness.errors import BadInputError, HarnessError, MachineError
from harness.models.resolve import resolve
from harness.runners import probes
from harness.runners.base import (
    Failure,
    Generation,
    PreparedArm,
    Session,
    Stepped,
    TrialRequest,
)
from harness.runners.inprocess import open_in_process
from harness.runners.isolated import IsolatedSession
from schemas.method import Method
from tests.harness.campaigns import BASELINE, DRAFT, LOOKUP, campaign
from tests.nightly import few

pytestmark = pytest.mark.engine

TEXTS = (
    "Repeat these words three times: red green blue yellow red green blue yellow.",
    "Name the days of the week in order, one per line.",
    "What is the capital of France?",
)
OUTPUT_TOKENS = 24
DEEP = ArmPlan(
    id="draft-model-n7",
    role="speculation",
    method=Method(type="draft-model", draft="draft", n_max=7),
    baseline="baseline",
)
ORACLES = tuple(
    ArmPlan(
        id=f"oracle-{name}",
        role="control",
        method=Method(type="oracle", n_max=3, acceptance=acceptance),
        baseline="baseline",
    )
    for name, acceptance in (("right", 1.0), ("wrong", 0.0))
)
FORCED = tuple(
    ArmPlan(
        id=f"forced-{name}",
        role="control",
        method=Method(type="forced", n_max=3, length=2.5, draft=draft),
        baseline="baseline",
    )
    for name, draft in (("free", None), ("drafted", "draft"))
)


@pytest.fixture(scope="session")
def weights() -> tuple[Path, Path]:
    """The default target and draft."""
    target = resolve("smollm2-135m:f16", say=lambda _: None).path
    return target, resolve("smollm2-135m:q4_1", say=lambda _: None).path


@pytest.fixture(scope="session")
def plan(weights: tuple[Path, Path]) -> Campaign:
    target, draft = weights
    return campaign(
        arms=(BASELINE, LOOKUP, DRAFT, DEEP, *ORACLES, *FORCED),
        texts=TEXTS,
        max_output_tokens=OUTPUT_TOKENS,
        target=target,
        draft=draft,
        context_tokens=512,
    )


@pytest.fixture(scope="session")
def session(plan: Campaign) -> Iterator[Session]:
    opened = open_in_process(plan)
    for arm in plan.arms:
        assert isinstance(opened.prepare(arm.id), PreparedArm)
    yield opened
    opened.close()


class LlamaAnswers:
    """The answers of each arm to each prompt, computed once for many tests."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[tuple[str, str], Generation] = {}

    def of(self, arm: str, prompt: str = "code-1") -> Generation:
        if (arm, prompt) not in self._known:
            self._known[arm, prompt] = generate(self._session, arm, prompt)
        return self._known[arm, prompt]


@pytest.fixture(scope="session")
def answers(session: Session) -> LlamaAnswers:
    return LlamaAnswers(session)


def generate(session: Session, arm: str, prompt: str = "code-1") -> Generation:
    answer = session.generate(TrialRequest(arm=arm, prompt=prompt, max_output_tokens=OUTPUT_TOKENS))
    assert isinstance(answer, Generation), answer
    return answer


@pytest.mark.parametrize("prompt", few(["code-1", "code-2"], 1))
@pytest.mark.parametrize("arm", ["prompt-lookup-n8", "draft-model-n4", "draft-model-n7"])
def test_speculation_writes_what_the_baseline_writes(
    answers: LlamaAnswers, arm: str, prompt: str
) -> None:
    baseline = answers.of("baseline", prompt)

    speculative = answers.of(arm, prompt)

    assert speculative.tokens == baseline.tokens
    assert sum(item.drafted for item in speculative.rounds) > 0


def test_a_draft_of_the_same_family_is_mostly_right(answers: LlamaAnswers) -> None:
    generation = answers.of("draft-model-n4")

    drafted = sum(item.drafted for item in generation.rounds)
    assert sum(item.accepted for item in generation.rounds) / drafted > 0.7


@pytest.mark.nightly
def test_an_oracle_that_is_always_right_is_always_accepted(answers: LlamaAnswers) -> None:
    generation = answers.of("oracle-right")

    assert generation.tokens == answers.of("baseline").tokens
    # In the last round an accepted end of the output counts as the target's token.
    assert all(item.accepted == item.drafted for item in generation.rounds[:-1])
    assert sum(item.accepted for item in generation.rounds) > len(generation.tokens) / 2


def test_an_oracle_that_is_always_wrong_is_never_accepted_and_changes_nothing(
    answers: LlamaAnswers,
) -> None:
    generation = answers.of("oracle-wrong")

    assert generation.tokens == answers.of("baseline").tokens
    assert sum(item.accepted for item in generation.rounds) == 0


@pytest.mark.parametrize("arm", ["forced-free", "forced-drafted"])
def test_forced_acceptance_yields_the_tokens_per_round_that_were_set(
    answers: LlamaAnswers, arm: str
) -> None:
    generation = answers.of(arm)

    # 23 tokens after the first at 2.5 a round; the last rounds are cut short.
    assert generation.tokens == answers.of("baseline").tokens
    assert len(generation.rounds) in (9, 10)
    assert {item.accepted for item in generation.rounds[:-2]} == {1, 2}
    spent = sum(item.draft_ms for item in generation.rounds)
    assert spent / generation.decode_ms > 0.2 or arm == "forced-free"


@pytest.mark.nightly
def test_a_prompt_is_processed_once_however_often_arms_come_back_to_it(session: Session) -> None:
    first = generate(session, "baseline", "code-3")  # no other test has this prompt
    generate(session, "baseline", "code-2")
    second = generate(session, "draft-model-n4", "code-3")

    assert first.prompt_ms is not None
    assert second.prompt_ms is None


def test_only_the_baseline_reports_margins_and_none_is_negative(answers: LlamaAnswers) -> None:
    baseline = answers.of("baseline")

    assert baseline.margins is not None
    assert len(baseline.margins) == len(baseline.tokens)
    assert min(baseline.margins) >= 0
    assert answers.of("draft-model-n4").margins is None


def test_drafting_and_verification_make_up_nearly_all_of_a_round(answers: LlamaAnswers) -> None:
    rounds = answers.of("draft-model-n4").rounds

    shares = [(item.draft_ms + item.verify_ms) / item.round_ms for item in rounds]
    assert max(shares) <= 1
    assert median(shares) > 0.9  # a machine with other things to do may pause anywhere in a round


def test_single_steps_are_timed_after_the_first_prompt(session: Session) -> None:
    assert isinstance(session, Stepped)

    found = session.step_times((1, 8, 2))

    assert found.context_tokens == generate(session, "baseline").prompt_tokens
    assert len(found.ms) == 3
    assert min(found.ms) > 0


def test_the_probes_cover_every_draft_and_width_that_an_arm_may_use(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probes, "PASSES", 1)
    monkeypatch.setattr(probes, "DRAFTING_REPEATS", 1)

    assert isinstance(session, Stepped)
    curve = probes.verification_curve(session, widest=9)
    found = session.probe()

    assert found is not None
    assert (curve.widths, curve.repeats) == (tuple(range(1, 10)), 1)
    assert [probe.draft for probe in found.drafting or ()] == ["draft"]


def test_the_engine_names_itself_its_backend_and_its_devices(session: Session) -> None:
    report = session.report()

    assert report.engine.name == "llama.cpp"
    assert report.engine.devices
    assert report.settings.context_tokens == 512
    assert report.settings.threads == 1


def test_the_baseline_agrees_with_the_bindings_own_greedy_decoding(
    answers: LlamaAnswers, plan: Campaign
) -> None:
    from llama_cpp import Llama  # noqa: PLC0415 - loads the engine

    peer = Llama(
        model_path=str(plan.target.path), n_ctx=512, n_threads=1, verbose=False, flash_attn=False
    )
    answer = peer.create_chat_completion(
        messages=[{"role": "user", "content": TEXTS[1]}],
        temperature=0.0,
        top_k=1,
        repeat_penalty=1.0,
        max_tokens=OUTPUT_TOKENS,
    )
    text = answer["choices"][0]["message"]["content"]
    tokens = peer.tokenize(text.encode(), add_bos=False, special=True)
    peer.close()

    ours = answers.of("baseline", "code-2").tokens
    assert tokens[:16] == list(ours[:16])


def test_a_method_that_needs_a_server_is_refused_in_one_line(plan: Campaign) -> None:
    arm = ArmPlan(
        id="cache", role="speculation", method=Method(type="ngram-cache"), baseline="baseline"
    )
    opened = open_in_process(dataclasses.replace(plan, arms=(BASELINE, arm)))

    with pytest.raises(
        BadInputError,
        match="the in-process runner does not support the method ngram-cache; use a server runner",
    ):
        opened.prepare("cache")
    opened.close()


def test_a_context_that_is_too_small_says_how_large_it_must_be(plan: Campaign) -> None:
    settings = dataclasses.replace(plan.settings, context_tokens=32)

    with pytest.raises(BadInputError, match=r"the context has room for 32; raise --context to \d+"):
        open_in_process(dataclasses.replace(plan, settings=settings))


def test_a_file_that_is_not_a_model_is_one_clear_line(plan: Campaign, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(plan.target.path.read_bytes()[:100_000])
    target = dataclasses.replace(plan.target, path=broken)

    with pytest.raises(BadInputError, match=r"broken\.gguf could not be loaded as a GGUF model"):
        IsolatedSession(open_in_process, dataclasses.replace(plan, target=target))


def test_a_context_that_does_not_fit_into_memory_is_one_clear_line(plan: Campaign) -> None:
    settings = dataclasses.replace(plan.settings, context_tokens=40_000_000)

    with pytest.raises(HarnessError, match=r"memory|failed while loading") as caught:
        IsolatedSession(open_in_process, dataclasses.replace(plan, settings=settings))
    assert isinstance(caught.value, MachineError)


def test_a_broken_draft_fails_its_arm_and_not_the_session(plan: Campaign, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\0" * 64)
    draft = dataclasses.replace(plan.drafts[0], path=broken)
    opened = IsolatedSession(open_in_process, dataclasses.replace(plan, drafts=(draft,)))

    failed = opened.prepare("draft-model-n4")
    ready = opened.prepare("baseline")
    opened.close()

    assert isinstance(failed, Failure)
    assert failed.reason == "load-failed"
    assert isinstance(ready, PreparedArm)
