"""Let the target write an answer to each prompt, and the draft read each answer."""

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from typing import TypeVar

from harness.acceptance.pair import TIMED_TOKENS, PairToRead
from harness.acceptance.reader import Reader
from harness.acceptance.rounds import ReadAnswer
from harness.campaign.model import Campaign, PlannedTrial
from harness.report import events
from harness.runners.base import Failure, Generation, Runner, Session, TrialRequest

S = TypeVar("S", bound=Session)


@dataclass(slots=True)
class AnswersRead:
    """The draft's correct predictions so far, and the time to draft one token."""

    read: list[ReadAnswer] = field(default_factory=list)
    drafting_ms: float | None = None


def read_into(
    found: AnswersRead,
    pair: PairToRead,
    open_reader: Callable[[Campaign], Reader],
    open_target: Runner,
    observe: events.Observer,
) -> None:
    """Read all answers; after an error, the answers read so far are kept. Raises `HarnessError`.

    A prompt that fails is reported and left out.
    """
    prompts, limit = pair.writes.suite.prompts, pair.writes.settings.max_output_tokens
    observe(events.TrialsPlanned(total=len(prompts), prompts=len(prompts)))
    with ExitStack() as stack:
        reader = _loaded(stack, pair.reads, open_reader, observe)
        timed = reader.generate(_request(pair.reads, 0, TIMED_TOKENS))
        if isinstance(timed, Generation):
            found.drafting_ms = timed.decode_ms / max(1, timed.output_tokens - 1)
        target = _loaded(stack, pair.writes, open_target, observe)
        for number, prompt in enumerate(prompts):
            trial = PlannedTrial(order=number, block=0, prompt=prompt.id, arm="target")
            observe(events.TrialStarted(trial=trial))
            answer = target.generate(_request(pair.writes, number, limit))
            if isinstance(answer, Failure):
                observe(events.TrialEnded(trial=trial, failure=answer))
                continue
            agreed = reader.agreement(answer.prompt_ids or (), answer.tokens or ())
            tokens = len(agreed.agrees) + 1
            # An unfinished answer was cut off: no round drafts beyond its last token.
            most = max(tokens, limit) if agreed.ended else tokens
            found.read.append(ReadAnswer(task=prompt.task, agrees=agreed.agrees, limit=most))
            observe(events.TrialEnded(trial=trial))


def _loaded(
    stack: ExitStack, campaign: Campaign, opened: Callable[[Campaign], S], observe: events.Observer
) -> S:
    observe(events.Stage(kind="loading", name=campaign.target.model.name))
    return stack.enter_context(closing(opened(campaign)))


def _request(campaign: Campaign, number: int, limit: int) -> TrialRequest:
    prompt = campaign.suite.prompts[number].id
    return TrialRequest(arm=campaign.arms[0].id, prompt=prompt, max_output_tokens=limit)
