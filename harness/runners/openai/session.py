"""How does a server answer a campaign's requests? One connection for each way to a server.

A server that runs already is asked as it is: what it remembers from block to block cannot be
wiped. One that the harness starts is fresh for every arm in every block.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.campaign.model import ArmPlan, Campaign
from harness.errors import BadInputError, MachineError
from harness.runners.base import (
    EngineReport,
    Failure,
    Finished,
    Generation,
    PreparedArm,
    Request,
    Session,
    together,
)
from harness.runners.http.client import ServerRefusedError, ServerSilentError
from harness.runners.llama_server.exchange import BadAnswerError
from harness.runners.llama_server.session import WARM_UP_OUTPUT_TOKENS, WARM_UP_TEXT
from harness.runners.openai import exchange
from harness.runners.openai.address import api_key, without_key
from harness.runners.openai.command import check, doors
from harness.runners.openai.connection import Access, Connection, Limits, Servers
from harness.runners.openai.exchange import DRAFTS_BY_REQUEST, Exchanged, Question
from harness.runners.openai.identity import Served, shown
from harness.runners.openai.report import check_backend, failure_of, report_on
from harness.runners.options import ConnectionOptions
from schemas.submission import Probes


class OpenAiSession:
    """The server of the arm that has its turn. Everything that fails is a value."""

    def __init__(self, campaign: Campaign, access: Access, *, backend: str | None = None) -> None:
        self._campaign = campaign
        self._backend = backend
        self._key = access.key
        self._servers = Servers(campaign, access)
        self._arms = {arm.id: arm for arm in campaign.arms}
        self._texts = {prompt.id: prompt.text for prompt in campaign.suite.prompts}
        self._base: Connection | None = None
        self._references: set[str] = set()
        self._tells_times: dict[str, bool] = {}

    def report(self) -> EngineReport:
        """What the baseline's server says about itself. Raises `MachineError` if it is not there.

        A server that the harness starts stays for the baseline's preparation.
        """
        baseline = next(arm for arm in self._campaign.arms if arm.role == "baseline")
        found = self._servers.of(baseline, 0)
        if isinstance(found, Connection):
            self._base = found
        else:
            message = f"the baseline's server: {found.detail} [{found.reason}]"
            raise MachineError(message)
        return report_on(found.identity, found.served, self._campaign, self._backend)

    def prepare(self, arm: str) -> PreparedArm | Failure:
        """ConnectionOptions the arm's server, and discard one generation with speculation on."""
        plan = self._arms[arm]
        found = self._servers.of(plan, 0)
        if isinstance(found, Connection):
            found = self._unfit(found, plan) or found
        if isinstance(found, Failure):
            return found
        done = self._warm_up(found, plan)
        if isinstance(done, Failure):
            return done
        self._tells_times[arm] = done.tells_times
        return PreparedArm(load_s=found.load_s, warm_up=done.generation, argv=found.argv)

    def generate(self, request: Request) -> Generation | Failure:
        """Run one generation on the server of this arm and block."""
        found = self._turn_of(request)
        return found if isinstance(found, Failure) else self._answer(found, request, alone=True)

    def generate_together(
        self, requests: Sequence[Request], concurrency: int
    ) -> Iterator[Finished]:
        """Run generations of one arm in one block, never more than `concurrency` at once."""
        found = self._turn_of(requests[0]) if requests else None

        def answer(request: Request) -> Generation | Failure:
            if found is None or isinstance(found, Failure):
                return found or Failure(reason="other", detail="nothing was asked")
            return self._answer(found, request, alone=concurrency == 1)

        return together(requests, concurrency, answer)

    def probe(self) -> Probes | None:
        """A server does not time single steps."""
        return None

    def close(self) -> None:
        """End the server that the harness started, if one runs."""
        self._servers.end()

    def _turn_of(self, request: Request) -> Connection | Failure:
        """The server for a request; a fresh one is warmed up first."""
        arm = self._arms[request.arm]
        fresh = not self._servers.has_turn(arm, request.block)
        found = self._servers.of(arm, request.block)
        if isinstance(found, Connection) and fresh:
            done = self._warm_up(found, arm)
            if isinstance(done, Failure):
                return done
        return found

    def _warm_up(self, found: Connection, arm: ArmPlan) -> Exchanged | Failure:
        question = Question(
            text=WARM_UP_TEXT,
            limit=WARM_UP_OUTPUT_TOKENS,
            speculates=arm.role == "speculation",
            draft=self._draft(arm),
            depth=_depth(arm),
        )
        try:
            return exchange.exchange(found, question)
        except (ServerSilentError, ServerRefusedError, BadAnswerError) as error:
            return self._failure(found, error)

    def _answer(self, found: Connection, request: Request, *, alone: bool) -> Generation | Failure:
        arm = self._arms[request.arm]
        question = Question(
            text=self._texts[request.prompt],
            limit=request.max_output_tokens,
            speculates=arm.role == "speculation",
            draft=self._draft(arm),
            depth=_depth(arm),
            alone=alone,
            server_clock=all(self._tells_times.values()),
        )
        try:
            generation = exchange.exchange(found, question).generation
        except (ServerSilentError, ServerRefusedError, BadAnswerError) as error:
            return self._failure(found, error)
        if arm.role == "baseline" and alone and request.prompt not in self._references:
            self._references.add(request.prompt)
            known = exchange.margins(found, question, generation)
            generation = replace(generation, margins=known)
        return generation

    def _unfit(self, found: Connection, arm: ArmPlan) -> Failure | None:
        """Why a server cannot be that of an arm; what the baselines have decides."""
        if arm.role == "baseline":
            self._base = self._base or found
        if arm.role != "speculation" or self._base is None:
            return None
        return unfit(found, self._base, draft=self._draft(arm))

    def _draft(self, arm: ArmPlan) -> str | None:
        """The name of the arm's draft model."""
        draft = getattr(arm.method, "draft", None)
        return next((d.model.name for d in self._campaign.drafts if d.model.id == draft), None)

    def _failure(self, found: Connection, error: Exception) -> Failure:
        """What an exchange that went wrong means; a server that died says it itself."""
        failure = failure_of(error, found.client, models=found.identity.models)
        if found.process is not None and isinstance(error, ServerSilentError) and not error.late:
            failure = found.process.death_soon() or failure
        if found.process is not None and not isinstance(error, ServerRefusedError):
            self._servers.distrust()
        return replace(failure, detail=without_key(failure.detail, self._key))


def unfit(found: Connection, base: Connection, *, draft: str | None) -> Failure | None:
    """Why a server cannot be compared with the baseline's: another engine or model, or the same.

    LM Studio alone may be one server for both, as it drafts when a request names a draft model.
    """
    ours, theirs = found.identity, base.identity
    if (ours.shown_name, ours.version) != (theirs.shown_name, theirs.version):
        return _not_comparable(
            f"this server is {ours.shown_name} {ours.version or ''}, the baseline's is "
            f"{theirs.shown_name} {theirs.version or ''}; a result is about one engine"
        )
    if not is_same_model(found.served, base.served):
        return _not_comparable(
            f"this server offers {found.model}, the baseline's {base.model}; "
            "start both with the same model, under the same name"
        )
    if ours.name in DRAFTS_BY_REQUEST:
        known = draft is None or any(model.id == draft for model in ours.models)
        offered = f"{found.client.address} offers no model {draft}; it has {shown(ours.models)}"
        return None if known else Failure(reason="load-failed", detail=offered)
    if found.process is None and found.client.address == base.client.address:
        return _not_comparable(
            "this is the baseline's server; one that was started with speculation is needed"
        )
    return None


def is_same_model(one: Served, other: Served) -> bool:
    """Whether two servers offer the same model: by name, by source, or by size to the byte."""
    return (
        one.id == other.id
        or (one.root is not None and one.root == other.root)
        or (one.file_bytes is not None and one.file_bytes == other.file_bytes)
    )


def _not_comparable(detail: str) -> Failure:
    return Failure(reason="other", detail=" ".join(detail.split()))


def _depth(arm: ArmPlan) -> int | None:
    depth: int | None = getattr(arm.method, "n_max", None)
    return depth


class OpenAiServer:
    """Measures through servers that speak OpenAI's protocol: one plain, one for each method."""

    def __init__(self, reach: ConnectionOptions) -> None:
        """Raises `BadInputError` when the options do not say how to reach the servers."""
        check_backend(reach.backend)
        self._access = Access(
            doors=doors(reach),
            model=reach.model,
            limits=Limits(startup_s=reach.startup_limit_s, answer_s=reach.answer_limit_s),
            key=api_key(),
        )
        self._backend = reach.backend

    def open(self, campaign: Campaign) -> Session:
        """A session; nothing is asked or started yet. Raises `BadInputError`."""
        if campaign.settings.teacher_forced:
            message = "a server cannot be fed the baseline's text; leave out --teacher-forced"
            raise BadInputError(message)
        check(self._access.doors, campaign)
        return OpenAiSession(campaign, self._access, backend=self._backend)
