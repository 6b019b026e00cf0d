"""Compare whole requests, timed by the client, with the same requests for a single token.

The time of a whole request is known, no matter how the answer is streamed. After the last pass,
its first prompts are sent again in the same order, so that a prompt cache contains the same part of
each prompt as in that pass.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from harness.campaign.model import Campaign
from harness.report import events
from harness.run.journal import Fact, OneTokenFact, TrialFact
from harness.runners.base import ByClientClock, Failure, Session, TrialRequest
from schemas.submission import Trial

_PROMPTS = 4


def answers(
    session: Session, campaign: Campaign, facts: Sequence[Fact], observe: events.Observer
) -> Iterator[OneTokenFact]:
    """Time a few one-token requests for each arm in sequence, if the session compares requests."""
    if not isinstance(session, ByClientClock):
        return
    for arm in campaign.arms:
        if arm.concurrency > 1 or not session.compares_requests():
            continue
        observe(events.Stage(kind="warming-up", name=arm.id))
        session.rest()  # as in the last pass, the next server must not have seen the prompts
        for asked in requests(facts, arm.id):
            answer = session.generate(asked)
            if isinstance(answer, Failure):
                break
            if answer.output_tokens == 1:
                yield OneTokenFact(
                    arm=asked.arm,
                    prompt=asked.prompt,
                    block=asked.block,
                    wall_ms=round(answer.wall_ms, 3),
                    read_whole=answer.ttft_ms is not None,
                )


def requests(facts: Iterable[Fact], arm: str) -> list[TrialRequest]:
    """Return the requests for an arm: a few prompts of the arm's last pass, in order."""
    trials = [fact.trial for fact in facts if isinstance(fact, TrialFact)]
    last = max((trial.block for trial in trials), default=0)
    own = [each for each in trials if (each.arm, each.block, each.outcome) == (arm, last, "ok")]
    return [
        TrialRequest(arm=arm, prompt=trial.prompt, max_output_tokens=1, block=last)
        for trial in own[:_PROMPTS]
    ]


def beside(trials: Sequence[Trial], facts: Iterable[Fact]) -> Iterator[Trial]:
    """Yield the trials, each with the time of its one-token request if that is comparable."""
    asked = {
        (each.arm, each.prompt, each.block): each
        for each in facts
        if isinstance(each, OneTokenFact)
    }
    for trial in trials:
        fact = asked.get((trial.arm, trial.prompt, trial.block))
        read_whole = trial.ttft_ms is not None
        # In the first pass, a server may or may not have seen the prompt before.
        same = fact is not None and fact.read_whole == read_whole and (read_whole or trial.block)
        yield replace(trial, one_token_ms=fact.wall_ms) if fact is not None and same else trial
