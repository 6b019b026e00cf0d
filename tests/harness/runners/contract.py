"""Checks of a session that every runner must pass."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain

from harness.campaign.model import ArmPlan, Campaign
from harness.runners.base import (
    ConcurrentSession,
    EngineReport,
    Failure,
    FinishedRequest,
    Generation,
    PreparedArm,
    Runner,
    Session,
    Totals,
    TrialRequest,
)
from schemas.vocabulary import RUNNERS
from tests.processes import children

# Clocks of threads are read a moment before and after what they time.
_SLACK_MS = 0.5


def check_report(report: EngineReport, campaign: Campaign) -> None:
    """The engine has a name, a version and a backend, and uses the requested sampling."""
    assert report.engine.runner in RUNNERS
    assert report.engine.name
    assert report.engine.version
    assert report.engine.backend
    assert report.settings.sampling == "greedy"
    assert report.settings.max_output_tokens == campaign.settings.max_output_tokens


def check_prepared(session: Session, campaign: Campaign) -> None:
    """Every arm can be prepared, and answers once with speculation on."""
    for arm in campaign.arms:
        prepared = session.prepare(arm.id)
        assert isinstance(prepared, PreparedArm), prepared
        assert prepared.load_s is None or prepared.load_s >= 0
        assert prepared.warm_up.output_tokens > 1
        check_generation(prepared.warm_up, arm)


def check_generations(session: Session, campaign: Campaign) -> None:
    """Every arm answers every prompt within the limit, and reports times and counters."""
    for arm in campaign.arms:
        for request in requests(campaign, arm):
            generation = session.generate(request)
            assert isinstance(generation, Generation), generation
            assert generation.output_tokens <= request.max_output_tokens
            assert generation.prompt_tokens > 0
            check_generation(generation, arm)


def check_generation(generation: Generation, arm: ArmPlan) -> None:
    """Times are consistent, and output_tokens = 1 + accepted + rounds if known."""
    assert 0 < generation.decode_ms <= generation.wall_ms + _SLACK_MS
    if generation.ttft_ms is not None:
        assert generation.ttft_ms <= generation.wall_ms + _SLACK_MS
    sums = generation.rounds
    if not isinstance(sums, Totals):
        rounds: int | None = len(sums)
        drafted: int | None = sum(each.drafted for each in sums)
        accepted: int | None = sum(each.accepted for each in sums)
    else:
        rounds, drafted, accepted = sums.rounds, sums.drafted, sums.accepted
        check_histogram(sums)
    if rounds is not None and accepted is not None:
        assert generation.output_tokens == 1 + accepted + rounds
    if drafted is not None and accepted is not None:
        assert accepted <= drafted
    if arm.role == "baseline":
        assert drafted in (0, None)


def check_histogram(sums: Totals) -> None:
    """A histogram counts every round once and adds up to the accepted tokens."""
    if sums.accepted_histogram is not None:
        assert sum(sums.accepted_histogram) == sums.rounds
        counts = enumerate(sums.accepted_histogram)
        assert sum(length * rounds for length, rounds in counts) == sums.accepted


def check_repeats(session: Session, campaign: Campaign) -> None:
    """Each arm gives the same answer to a prompt in the next block."""
    for arm in campaign.arms:
        request = requests(campaign, arm)[0]
        first = session.generate(request)
        second = session.generate(replace(request, block=1))
        assert isinstance(first, Generation), first
        assert isinstance(second, Generation), second
        assert first.tokens == second.tokens
        assert first.output_tokens == second.output_tokens
        assert first.prompt_sha256 == second.prompt_sha256


def check_together(session: Session, campaign: Campaign, concurrency: int) -> None:
    """Each request is answered once, and no more are in flight than requested."""
    assert isinstance(session, ConcurrentSession)
    for arm in campaign.arms:
        asked = requests(campaign, arm)
        done = list(session.generate_concurrently(asked, concurrency))
        assert sorted(each.request.prompt for each in done) == sorted(r.prompt for r in asked)
        for each in done:
            assert isinstance(each.result, Generation), each.result
            check_generation(each.result, arm)
        assert most_in_flight(done) <= concurrency


def check_failure_and_end(runner: Runner, campaign: Campaign, break_it: Callable[[], None]) -> None:
    """A broken engine gives a reason and a line, and leaves no process behind."""
    before = children()
    session = runner(campaign)
    try:
        session.report()
        arm = campaign.arms[0]
        assert isinstance(session.prepare(arm.id), PreparedArm)
        request = requests(campaign, arm)[0]
        assert isinstance(session.generate(request), Generation)
        break_it()
        failure = session.generate(request)
        assert isinstance(failure, Failure), failure
        assert failure.detail
        assert "\n" not in failure.detail
    finally:
        session.close()
    assert not children() - before


def requests(campaign: Campaign, arm: ArmPlan) -> list[TrialRequest]:
    """All prompts of a campaign for one arm, in the first block."""
    limit = campaign.settings.max_output_tokens
    return [
        TrialRequest(arm=arm.id, prompt=prompt.id, max_output_tokens=limit)
        for prompt in campaign.suite.prompts
    ]


def most_in_flight(done: Iterable[FinishedRequest]) -> int:
    """The largest number of simultaneous requests."""
    moments = sorted(chain.from_iterable(_moments(each) for each in done))
    running = most = 0
    for _, change in moments:
        running += change
        most = max(most, running)
    return most


def _moments(each: FinishedRequest) -> Iterator[tuple[float, int]]:
    """Start and end times of requests; at equal times, ends come first."""
    assert isinstance(each.result, Generation)
    yield each.started_ms, 1
    yield max(each.started_ms, each.started_ms + each.result.wall_ms - _SLACK_MS), -1
