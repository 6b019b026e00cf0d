"""The runner works with a stock llama-server, real weights and every n-gram type."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.campaign.arms import label
from harness.campaign.method_parser import parse
from harness.campaign.model import ArmPlan, Campaign
from harness.runners.base import Generation, PreparedArm, Session, Stepped, Totals, TrialRequest
from harness.runners.inprocess import open_in_process
from harness.runners.llama_server.session import LlamaServerSession
from harness.runners.options import ConnectionOptions
from tests.harness.campaigns import BASELINE, DRAFT, campaign
from tests.nightly import few

pytestmark = pytest.mark.engine

# Answers that copy the prompt or repeat themselves, without near-ties.
ALPHABET = "a b c d e f g h i j k l m n o p q r s t u v w x y z"
TEXTS = (
    f"Write the letters of the alphabet, then write them again: {ALPHABET}",
    "Write the word hello twenty times.",
    "Say one, two, three.\n<|assistant|>\none, two, three\n<|user|>\nGo on to ten.",
)
TALK = "code-3"
OUTPUT_TOKENS = 28
# The prompt on which each fires: ngram-simple needs a whole draft after the match, ngram-mod adds
# new text every 32 tokens, the maps need earlier text. ngram-cache does not fire.
FIRES = {
    "ngram-simple": "code-1",
    "ngram-map-k": "code-2",
    "ngram-map-k4v": "code-2",
    "ngram-mod": "code-1",
    "ngram-cache": None,
}


def ngram(text: str) -> ArmPlan:
    request = parse(text)
    return ArmPlan(id=label(request), role="speculation", method=request, baseline="baseline")


@pytest.fixture(scope="module")
def plan(weights: Path) -> Campaign:
    return campaign(
        arms=(BASELINE, DRAFT, *(ngram(name) for name in FIRES)),
        texts=TEXTS,
        max_output_tokens=OUTPUT_TOKENS,
        target=weights,
        draft=weights,
        context_tokens=512,
    )


@pytest.fixture(scope="module")
def session(plan: Campaign, binary: str) -> Iterator[Session]:
    opened = LlamaServerSession(ConnectionOptions(binary=binary), plan)
    yield opened
    opened.close()


@pytest.mark.nightly
def test_a_step_is_read_after_a_prompt_whose_state_is_kept(session: Session) -> None:
    assert isinstance(session, Stepped)

    times = session.step_times((1, 4, 2))

    assert times.context_tokens > len(ALPHABET) // 2
    assert len(times.ms) == 3
    assert min(times.ms) > 0


@pytest.fixture(scope="module")
def plain(session: Session) -> dict[str, Generation]:
    assert isinstance(session.prepare("baseline"), PreparedArm)
    return {name: generate(session, "baseline", prompt=name) for name in ("code-1", "code-2", TALK)}


def generate(
    session: Session,
    arm: str,
    *,
    prompt: str = "code-1",
    block: int = 0,
    limit: int = OUTPUT_TOKENS,
) -> Generation:
    request = TrialRequest(arm=arm, prompt=prompt, max_output_tokens=limit, block=block)
    answer = session.generate(request)
    assert isinstance(answer, Generation), answer
    return answer


def drafted(generation: Generation) -> int:
    assert isinstance(generation.rounds, Totals)
    assert generation.rounds.drafted is not None
    return generation.rounds.drafted


@pytest.mark.parametrize(
    ("name", "prompt"), few([pytest.param(*each) for each in FIRES.items()], 1)
)
def test_every_n_gram_method_writes_what_the_baseline_writes(
    session: Session, plain: dict[str, Generation], name: str, prompt: str | None
) -> None:
    speculative = generate(session, ngram(name).id, prompt=prompt or "code-1")

    assert speculative.tokens == plain[prompt or "code-1"].tokens
    assert (drafted(speculative) > 0) == (prompt is not None)


def test_the_in_process_runner_writes_the_same_from_the_same_file(
    plan: Campaign, plain: dict[str, Generation]
) -> None:
    inside = open_in_process(plan)
    try:
        same = {name: generate(inside, "baseline", prompt=name) for name in ("code-1", TALK)}
    finally:
        inside.close()

    for name, inner in same.items():
        assert inner.prompt_sha256 == plain[name].prompt_sha256
        assert inner.tokens == plain[name].tokens


def test_a_draft_model_changes_no_text_and_reports_its_place_and_memory(
    session: Session, plan: Campaign, plain: dict[str, Generation]
) -> None:
    prepared = session.prepare("draft-model-n4")
    speculative = generate(session, "draft-model-n4")

    assert speculative.tokens == plain["code-1"].tokens
    assert drafted(speculative) > 0
    assert isinstance(prepared, PreparedArm)
    placement = prepared.placement
    assert placement is not None
    assert (placement.target_gpu_layers_requested, placement.target_gpu_layers_resident) == (-1, 0)
    assert (placement.draft_gpu_layers_requested, placement.draft_gpu_layers_resident) == (-1, 0)
    assert prepared.peak_memory is not None
    # Weights of 92 MiB each, and two caches of 512 tokens.
    assert 200 < {each.device: each.peak_mib for each in prepared.peak_memory}["CPU"] < 300
    assert prepared.argv is not None
    assert "--spec-type draft-simple --spec-draft-n-max 4" in " ".join(prepared.argv)
    assert not any(str(plan.target.path) in word for word in prepared.argv)


@pytest.mark.nightly
def test_a_method_that_remembers_begins_afresh_with_every_block(session: Session) -> None:
    blocks = [
        generate(session, "ngram-mod-n8", prompt="code-2", block=block, limit=48).rounds
        for block in (1, 2)
    ]
    again = generate(session, "ngram-mod-n8", prompt="code-2", block=2, limit=48).rounds

    one, two = (each for each in blocks if isinstance(each, Totals))
    assert (one.rounds, one.drafted, one.accepted) == (two.rounds, two.drafted, two.accepted)
    # It has a memory: a prompt repeated in the same block is drafted from its own answer.
    assert isinstance(again, Totals)
    assert again.rounds is not None
    assert two.rounds is not None
    assert again.rounds < two.rounds
