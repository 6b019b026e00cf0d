"""Repeat a result's prompts; compare answers and counters, which depend on weights and prompts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from estimates.decomposition import tokens_per_round
from estimates.identity import engine_group
from harness.campaign.model import Campaign, PlannedTrial
from harness.errors import BadInputError, MachineError
from harness.run.record import trial_of
from harness.runners.base import Failure, Runner, Session, TrialRequest
from schemas.submission import Submission, Trial
from schemas.vocabulary.flags import FLAGS

# The allowed difference between results, as for the collection's flag.
_APART = FLAGS["unlike-peers"].bounds["apart"]
Verdict = Literal["agrees", "differs", "differs-by-engine", "not-comparable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """A repeated trial: whether its engine, prompt and answer match, and its tokens per round.

    `same_engine` means the same backend and build. `same_prompt` and `same_answer` are `None` if
    either side lacks the digest.
    """

    arm: str
    prompt: str
    same_engine: bool
    same_prompt: bool | None
    same_answer: bool | None
    stated_tokens_per_round: float | None
    own_tokens_per_round: float | None

    @property
    def line(self) -> str:
        if self.same_prompt is False:
            return "the engine renders the prompt differently, so the answers cannot be compared"
        answer = {True: "the same answer", False: "a different answer", None: "no digest"}
        own, stated = self.own_tokens_per_round, self.stated_tokens_per_round
        words = f", {own:.2f} tokens per round instead of {stated:.2f}" if own and stated else ""
        return answer[self.same_answer] + words


def require_same_weights(submission: Submission, campaign: Campaign) -> None:
    """Raise `BadInputError` if the weights on this disk differ from the result's weights."""
    here = [campaign.target.model, *(draft.model for draft in campaign.drafts)]
    for own, stated in zip(here, (submission.target, *submission.drafts), strict=False):
        if None not in (own.sha256, stated.sha256) and own.sha256 != stated.sha256:
            raise BadInputError(
                f"{own.name} {own.quantisation} here has the SHA-256 {own.sha256}, but the "
                f"result has {stated.sha256} for {stated.name} {stated.quantisation}; give the "
                "file that was measured"
            )


def repeat(
    submission: Submission, campaign: Campaign, runner: Runner, say: Callable[[str], None]
) -> Iterator[Repeated]:
    """Repeat each arm of the result on the campaign's prompts. Raises `HarnessError`."""
    session = runner(campaign)
    try:
        for arm in campaign.arms:
            stated = {each.prompt: each for each in submission.trials if each.arm == arm.id}
            if not stated or arm.concurrency > 1:
                continue
            prepared = session.prepare(arm.id)
            if isinstance(prepared, Failure):
                raise MachineError(f"{arm.id} did not start: {prepared.detail}")
            for prompt in campaign.suite.prompts:
                say(f"{arm.id}: {prompt.id}")
                yield _repeated(submission, stated[prompt.id], session, campaign)
    finally:
        session.close()


def _repeated(
    submission: Submission, stated: Trial, session: Session, campaign: Campaign
) -> Repeated:
    limit = campaign.settings.max_output_tokens
    request = TrialRequest(arm=stated.arm, prompt=stated.prompt, max_output_tokens=limit)
    answer = session.generate(request)
    if isinstance(answer, Failure):
        raise MachineError(f"{stated.arm} on {stated.prompt}: {answer.detail}")
    planned = PlannedTrial(arm=stated.arm, prompt=stated.prompt, block=0, order=0)
    own = trial_of(answer, planned, order=0)
    rendered = {each.id: each.rendered_sha256 for each in submission.suite.prompts}
    return Repeated(
        arm=stated.arm,
        prompt=stated.prompt,
        same_engine=engine_group(session.report().engine) == engine_group(submission.engine),
        same_prompt=_same(rendered[stated.prompt], answer.prompt_sha256),
        same_answer=_same(stated.output_sha256, own.output_sha256),
        stated_tokens_per_round=tokens_per_round([stated]),
        own_tokens_per_round=tokens_per_round([own]),
    )


def _same(one: str | None, other: str | None) -> bool | None:
    return None if one is None or other is None else one == other


def verdict(found: Sequence[Repeated]) -> Verdict:
    """Return `differs` if all answers differ, or if an equal answer had different tokens per round.

    With another backend or build, the difference can be the engine's. Single answers may diverge
    at near-ties, which may be resolved differently on a different machine.
    """
    compared = [each for each in found if each.same_answer is not None and each.same_prompt]
    same = [each for each in compared if each.same_answer]
    if not compared:
        return "not-comparable"
    pairs = [(each.stated_tokens_per_round, each.own_tokens_per_round) for each in same]
    apart = any(a and b and max(a / b, b / a) > 1 + _APART for a, b in pairs)
    if same and not apart:
        return "agrees"
    return "differs" if all(each.same_engine for each in compared) else "differs-by-engine"
