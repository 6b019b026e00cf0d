"""Let the draft read the answers one by one; the target writes those that no file has."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field

from harness.acceptance.pair import Pair
from harness.acceptance.rounds import ReadAnswer
from harness.campaign.model import Campaign, PlannedTrial
from harness.errors import MachineError
from harness.report import events
from harness.run import kept_answers
from harness.run.kept_answers import KeptAnswer
from harness.runners.base import Adapter, Agreement, Failure, Session, TrialRequest, WrittenText

_TARGET, _DRAFT = "target", "draft"


@dataclass(slots=True)
class Found:
    """What was read so far, with the answers themselves; Ctrl-C leaves it as it is."""

    read: list[ReadAnswer] = field(default_factory=list)
    kept: list[KeptAnswer] = field(default_factory=list)
    drafting_ms: float | None = None


def read_into(found: Found, pair: Pair, adapter: Adapter, observe: events.Observer) -> None:
    """Read all answers. Raises `HarnessError` where a model cannot be loaded or nothing is read."""
    if adapter.open_draft is None:
        message = "this engine cannot load a draft alone"
        raise MachineError(message)
    writes = pair.answers is None
    count = len(pair.campaign.suite.prompts if pair.answers is None else pair.answers)
    observe(events.TrialsPlanned(total=count * (1 + writes), prompts=count))
    progress = _Progress(observe, [_TARGET, _DRAFT] if writes else [_DRAFT])
    with ExitStack() as stack:
        if pair.answers is None:
            session = stack.enter_context(closing(_loaded(pair, adapter, observe)))
            answers: Iterator[KeptAnswer] = _written(session, pair.plain, progress)
        else:
            answers = iter(pair.answers)
        observe(events.Stage(kind="loading", name=pair.draft.name))
        reader = stack.enter_context(closing(adapter.open_draft(pair.campaign, pair.target)))
        for number, kept in enumerate(answers, 1):
            text = WrittenText(
                prompt=kept.prompt,
                answer=kept.answer or "",
                prompt_ids=kept.prompt_ids,
                tokens=kept.tokens,
            )
            agreement = reader.agreement(text)
            found.read.append(_read(kept, agreement))
            found.kept.append(kept)
            progress.ended(_DRAFT, kept.id or f"line {number}")
        if not any(each.agrees for each in found.read):
            message = "no answer has a second token, so there are no rounds to count"
            raise MachineError(message)
        found.drafting_ms = reader.drafting_ms()
    observe(events.Stage(kind="finished"))


def _read(kept: KeptAnswer, found: Agreement) -> ReadAnswer:
    """An answer that did not end was cut off: no round of it drafts beyond its last token."""
    tokens = len(found.agrees) + 1
    most = max(tokens, kept.max_output_tokens or 0) if found.ended else tokens
    return ReadAnswer(task=kept.task, agrees=found.agrees, limit=most)


def _loaded(pair: Pair, adapter: Adapter, observe: events.Observer) -> Session:
    """The target, ready to answer."""
    observe(events.Stage(kind="loading", name=pair.plain.target.model.name))
    session = adapter.open(pair.plain)
    prepared = session.prepare(pair.plain.arms[0].id)
    if isinstance(prepared, Failure):
        session.close()
        message = f"the target cannot run: {prepared.detail}"
        raise MachineError(message)
    return session


def _written(session: Session, campaign: Campaign, progress: "_Progress") -> Iterator[KeptAnswer]:
    """The target's answers; a prompt without one is left out, and said."""
    template = session.report().settings.chat_template_sha256
    (arm,), limit = campaign.arms, campaign.settings.max_output_tokens
    for prompt in campaign.suite.prompts:
        progress.started(_TARGET, prompt.id)
        request = TrialRequest(arm=arm.id, prompt=prompt.id, max_output_tokens=limit)
        answer = session.generate(request)
        failure = answer if isinstance(answer, Failure) else None
        progress.ended(_TARGET, prompt.id, failure=failure)
        if not isinstance(answer, Failure):
            yield kept_answers.kept(campaign, prompt, answer, template)


class _Progress:
    """Tells an observer which model answers or reads what, as a campaign does of its trials."""

    def __init__(self, observe: events.Observer, models: list[str]) -> None:
        self._observe, self._order = observe, 0
        for model in models:
            observe(events.WarmedUp(arm=model, token_s=0.0))

    def started(self, model: str, prompt: str) -> None:
        self._observe(events.TrialStarted(trial=self._trial(model, prompt)))

    def ended(self, model: str, prompt: str, failure: Failure | None = None) -> None:
        self._observe(events.TrialEnded(trial=self._trial(model, prompt), failure=failure))
        self._order += 1

    def _trial(self, model: str, prompt: str) -> PlannedTrial:
        return PlannedTrial(order=self._order, block=0, prompt=prompt, arm=model)
