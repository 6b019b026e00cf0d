"""A draft that reads alone agrees where rounds of both models accept, on real weights."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.acceptance.rounds import ReadAnswer, Rounds, rounds_of
from harness.campaign.model import ArmPlan, Campaign
from harness.errors import BadInputError
from harness.models.resolve import resolve
from harness.runners.base import Generation, TrialRequest, WrittenText
from harness.runners.inprocess import connect, open_in_process
from harness.runners.inprocess.draft_reader import LlamaDraftReader
from harness.runners.inprocess.gguf_model import LoadedWeights
from harness.runners.options import ConnectionOptions
from schemas.method import Method
from tests.harness.campaigns import BASELINE, campaign

pytestmark = pytest.mark.engine

TEXTS = ("Name the days of the week in order, one per line.", "What is the capital of France?")
LIMIT = 40
DEPTHS = (1, 4)
ARMS = tuple(
    ArmPlan(
        id=f"draft-model-n{depth}",
        role="speculation",
        method=Method(type="draft-model", draft="draft", n_max=depth),
        baseline="baseline",
    )
    for depth in DEPTHS
)


@pytest.fixture(scope="module")
def plan() -> Campaign:
    """Three of the draft's thirty layers are left out: about half of its tokens are accepted."""
    target, draft = (
        resolve(f"smollm2-135m:{name}", say=lambda _: None).path
        for name in ("f16", "q4_1-pruned-3")
    )
    arms = (BASELINE, *ARMS)
    return campaign(
        arms=arms, texts=TEXTS, max_output_tokens=LIMIT, target=target, draft=draft,
        context_tokens=512,
    )  # fmt: skip


@pytest.fixture(scope="module")
def together(plan: Campaign) -> dict[tuple[str, str], Generation]:
    """What each arm answers to each prompt."""
    session = open_in_process(plan)
    found = {}
    for arm in plan.arms:
        session.prepare(arm.id)
        for prompt in plan.suite.prompts:
            request = TrialRequest(arm=arm.id, prompt=prompt.id, max_output_tokens=LIMIT)
            answer = session.generate(request)
            assert isinstance(answer, Generation), answer
            found[arm.id, prompt.id] = answer
    session.close()
    return found


@pytest.fixture(scope="module")
def reader(plan: Campaign) -> Iterator[LlamaDraftReader]:
    opened = LlamaDraftReader(plan)
    yield opened
    opened.close()


def kept(answer: Generation) -> WrittenText:
    return WrittenText(prompt="", answer="", prompt_ids=answer.prompt_ids, tokens=answer.tokens)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("prompt", ["code-1", "code-2"])
def test_reading_counts_what_rounds_of_both_models_accepted(
    reader: LlamaDraftReader,
    together: dict[tuple[str, str], Generation],
    prompt: str,
    depth: int,
) -> None:
    plain, drafted = together["baseline", prompt], together[f"draft-model-n{depth}", prompt]
    assert drafted.tokens == plain.tokens

    found = reader.agreement(kept(plain))

    read = ReadAnswer(task="code", agrees=found.agrees, limit=LIMIT)
    assert found.ended == (plain.finish == "stop")
    assert isinstance(drafted.rounds, tuple)
    assert rounds_of(read, depth) == Rounds(
        rounds=len(drafted.rounds),
        tried=tuple(
            sum(each.drafted > k and each.accepted >= k for each in drafted.rounds)
            for k in range(depth)
        ),
        reached=tuple(sum(each.accepted > k for each in drafted.rounds) for k in range(depth)),
    )


def test_a_text_is_split_and_rendered_as_the_target_does(
    plan: Campaign, reader: LlamaDraftReader, together: dict[tuple[str, str], Generation]
) -> None:
    plain = together["baseline", "code-2"]
    vocabulary = LoadedWeights(plan.target.on_disk, gpu_layers=0, vocabulary_only=True)
    kept_tokens = [token for token in plain.tokens or () if not vocabulary.is_end(token)]
    text = "".join(map(vocabulary.piece, kept_tokens))
    vocabulary.close()
    by_target = LlamaDraftReader(plan, vocabulary_of=plan.target.path)

    found = by_target.agreement(WrittenText(prompt=TEXTS[1], answer=text))

    by_target.close()
    tokens = reader.agreement(kept(plain))
    assert found.agrees == tokens.agrees[: len(found.agrees)]
    assert len(tokens.agrees) - len(found.agrees) == tokens.ended  # a text does not show its end
    assert not found.ended


def test_a_process_of_its_own_reads_the_same_and_times_a_drafted_token(
    plan: Campaign, reader: LlamaDraftReader, together: dict[tuple[str, str], Generation]
) -> None:
    open_draft = connect(ConnectionOptions()).open_draft
    assert open_draft is not None
    text = kept(together["baseline", "code-1"])
    alone = open_draft(plan, None)

    found, drafting_ms = alone.agreement(text), alone.drafting_ms()

    alone.close()
    assert found == reader.agreement(text)
    assert 0.1 < drafting_ms < 10_000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (WrittenText(prompt="<|im_start|>user\nHi<|im_end|>", answer="Yes."), "<|im_start|> in it"),
        (
            WrittenText(prompt="", answer="", prompt_ids=(5,), tokens=(49152,)),
            "the token 49152, and the draft knows 49152 tokens",
        ),
        (
            WrittenText(prompt="", answer="", prompt_ids=(5,) * 400, tokens=(6,) * 200),
            "take 600 tokens, the context holds 512: raise --context to 600",
        ),
    ],
    ids=["template", "vocabulary", "context"],
)
def test_a_text_that_is_not_for_this_draft_is_one_line(
    reader: LlamaDraftReader, text: WrittenText, said: str
) -> None:
    with pytest.raises(BadInputError) as error:
        reader.agreement(text)

    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_no_model_cannot_read(plan: Campaign, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF")
    whole = plan.drafts[0]
    open_draft = connect(ConnectionOptions()).open_draft
    assert open_draft is not None

    with pytest.raises(BadInputError, match="could not be loaded as a GGUF model"):
        open_draft(replace(plan, drafts=(replace(whole, path=broken),)), None)
