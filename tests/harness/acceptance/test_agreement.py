"""A draft that reads alone agrees where rounds of both models accept, on real weights."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from harness.acceptance.reader import Reader
from harness.acceptance.rounds import ReadAnswer, Rounds, rounds_of
from harness.campaign.model import ArmPlan, Campaign
from harness.errors import BadInputError
from harness.models.resolve import resolve
from harness.runners.base import Generation, TrialRequest
from harness.runners.inprocess import open_in_process
from harness.runners.isolated import ANSWER_LIMIT_S
from schemas.method import Method
from tests.harness.campaigns import BASELINE, campaign
from tests.nightly import few

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
    """A campaign whose draft lacks three of its thirty layers: half of its tokens are accepted."""
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
    """The answer of each arm to each prompt."""
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
def reads(plan: Campaign) -> Campaign:
    """The draft in place of the target, with steps of up to sixteen tokens."""
    wide = replace(BASELINE, method=Method(type="none", n_max=15))
    return replace(plan, target=plan.drafts[0], drafts=(), arms=(wide,))


@pytest.fixture(scope="module")
def reader(reads: Campaign) -> Iterator[Reader]:
    opened = Reader(reads, answer_limit_s=ANSWER_LIMIT_S)
    yield opened
    opened.close()


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("prompt", few(["code-1", "code-2"], 1))
def test_reading_counts_what_rounds_of_both_models_accepted(
    reader: Reader,
    together: dict[tuple[str, str], Generation],
    prompt: str,
    depth: int,
) -> None:
    plain, drafted = together["baseline", prompt], together[f"draft-model-n{depth}", prompt]
    assert drafted.tokens == plain.tokens

    found = reader.agreement(plain.prompt_ids or (), plain.tokens or ())

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


@pytest.mark.parametrize(
    ("prompt", "answer", "said"),
    [
        ((5,), (49152,), "the token 49152, but the draft's vocabulary has 49152 tokens"),
        ((5,) * 400, (6,) * 200, "take 600 tokens, but the context has room for 512"),
    ],
    ids=["vocabulary", "context"],
)
def test_an_answer_that_is_not_for_this_draft_is_one_line(
    reader: Reader, prompt: tuple[int, ...], answer: tuple[int, ...], said: str
) -> None:
    with pytest.raises(BadInputError) as error:
        reader.agreement(prompt, answer)

    assert said in str(error.value)
    assert "\n" not in str(error.value)
