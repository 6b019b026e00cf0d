"""Run the draft over the target's answers, one by one.

Unless the answers come from a file, the target writes each one first.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from typing import TypeVar

from harness.acceptance import kept_answers
from harness.acceptance.kept_answers import KeptAnswer
from harness.acceptance.pair import TIMED_TOKENS, PairToRead
from harness.acceptance.reader import Reader
from harness.acceptance.rounds import ReadAnswer
from harness.campaign.model import Campaign, PlannedTrial
from harness.errors import BadInputError
from harness.report import events
from harness.runners.base import Failure, Generation, Runner, Session, TrialRequest

S = TypeVar("S", bound=Session)


@dataclass(slots=True)
class AnswersRead:
    """The draft's correct predictions so far, the answers read, and the time to draft one token."""

    read: list[ReadAnswer] = field(default_factory=list)
    kept: list[KeptAnswer] = field(default_factory=list)
    drafting_ms: float | None = None


def read_into(
    found: AnswersRead,
    pair: PairToRead,
    open_reader: Callable[[Campaign], Reader],
    open_target: Runner,
    observe: events.Observer,
) -> None:
    """Read all answers; after an error, the answers read so far are kept. Raises `HarnessError`."""
    count = len(pair.writes.suite.prompts if pair.writes else pair.answers)
    observe(events.TrialsPlanned(total=count, prompts=count))
    with ExitStack() as stack:
        reader = _loaded(stack, pair.reads, open_reader, observe)
        timed = reader.generate(_request(pair.reads, 0, TIMED_TOKENS))
        if isinstance(timed, Generation):
            found.drafting_ms = timed.decode_ms / max(1, timed.output_tokens - 1)
        answers: Iterator[KeptAnswer] = iter(pair.answers)
        if pair.writes:
            target = _loaded(stack, pair.writes, open_target, observe)
            answers = _written(target, pair.writes, observe)
        for number, kept in enumerate(answers):
            prompt = kept.prompt_ids or kept.prompt
            try:
                agreed = reader.agreement(prompt, kept.tokens, kept.answer)
            except BadInputError as error:
                raise BadInputError(f"answer {number + 1} of {count}: {error}") from error
            tokens = len(agreed.agrees) + 1
            # An unfinished answer was cut off: no round drafts beyond its last token.
            limit = max(tokens, kept.max_output_tokens) if agreed.ended else tokens
            found.read.append(ReadAnswer(task=kept.task, agrees=agreed.agrees, limit=limit))
            found.kept.append(kept)
            trial = PlannedTrial(order=number, block=0, prompt=kept.id or "", arm="draft")
            observe(events.TrialEnded(trial=trial))


def _loaded(
    stack: ExitStack, campaign: Campaign, opened: Callable[[Campaign], S], observe: events.Observer
) -> S:
    observe(events.Stage(kind="loading", name=campaign.target.model.name))
    return stack.enter_context(closing(opened(campaign)))


def _request(campaign: Campaign, number: int, limit: int) -> TrialRequest:
    prompt = campaign.suite.prompts[number].id
    return TrialRequest(arm=campaign.arms[0].id, prompt=prompt, max_output_tokens=limit)


def _written(
    session: Session, campaign: Campaign, observe: events.Observer
) -> Iterator[KeptAnswer]:
    """Yield the target's answers; report a prompt that fails, and leave it out."""
    template = session.report().settings.chat_template_sha256
    for number, prompt in enumerate(campaign.suite.prompts):
        trial = PlannedTrial(order=number, block=0, prompt=prompt.id, arm="target")
        observe(events.TrialStarted(trial=trial))
        request = _request(campaign, number, campaign.settings.max_output_tokens)
        answer = session.generate(request)
        if isinstance(answer, Failure):
            observe(events.TrialEnded(trial=trial, failure=answer))
        else:
            yield kept_answers.kept(campaign, prompt, answer, template)
