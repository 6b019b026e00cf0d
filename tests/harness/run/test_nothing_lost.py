"""Every good trial is in the file once, despite bad answers, kills and clock changes."""

import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import pytest

from harness.campaign.model import Campaign
from harness.errors import BadInputError
from harness.models.model_file import ModelFile
from harness.report.events import TrialEnded
from harness.run import result_file
from harness.run.execute import RunContext
from harness.runners.base import EngineReport, Failure, Generation, Runner, Totals, TrialRequest
from schemas.method import Method
from schemas.submission import Submission
from tests.harness.campaigns import BASELINE, DRAFT, LOOKUP, campaign, context, measure
from tests.harness.fake_runner import FakeRig
from tests.harness.run.test_round_trip import KNOWN, InProcess
from tests.pipeline.tables import findings

Corrupt = Callable[[Generation], Generation]


# Three arms, two prompts, two blocks, and models with all facts of a run.
PLAN = replace(
    campaign(
        arms=(
            BASELINE,
            LOOKUP,
            replace(DRAFT, method=Method(type="draft-model", draft=KNOWN.drafts[0].id, n_max=4)),
        )
    ),
    target=ModelFile(path=Path("target.gguf"), model=KNOWN.target),
    drafts=(ModelFile(path=Path("draft.gguf"), model=KNOWN.drafts[0]),),
)
TRIALS = 12
BAD = 5


def counts(**stated: float) -> Corrupt:
    """The answer with different counters."""
    sums: dict[str, float | None] = {"decode_ms": 100.0, **stated}
    return lambda answer: replace(answer, rounds=Totals(**sums))  # type: ignore[arg-type]  # impossible on purpose


CORRUPTED: dict[str, tuple[Corrupt, str]] = {
    "more accepted than drafted": (counts(drafted=4, accepted=9), "accepted-within-drafted"),
    "counters that went backwards": (counts(drafted=-40, accepted=-30), "schema-minimum"),
    "no time": (counts(decode_ms=0.0), "decode-takes-time"),
    "no number": (counts(decode_ms=float("nan")), "schema-type"),
    "longer than it was awaited": (counts(decode_ms=9e7), "decode-within-wall"),
    "more rounds than fit into 64 bits": (counts(rounds=2**70), "schema-maximum"),
    "a prompt of 10^12 tokens": (
        lambda answer: replace(answer, prompt_tokens=10**12),
        "schema-maximum",
    ),
    "more than the context holds": (
        lambda answer: replace(answer, prompt_tokens=2040),
        "context-large-enough",
    ),
    "longer than was allowed": (
        lambda answer: counts()(replace(answer, counted_tokens=900)),
        "output-within-limit",
    ),
}


class Corrupting(InProcess):
    """An engine that states sums only, as a server does, and corrupts one of its answers."""

    def __init__(self, corrupt: Corrupt | None, at: int, campaign: Campaign) -> None:
        super().__init__(FakeRig(), campaign)
        self._corrupt, self._at, self._number = corrupt, at, count()

    def report(self) -> EngineReport:
        made = super().report()
        return replace(made, engine=replace(made.engine, runner="openai"))

    def generate(self, request: TrialRequest) -> Generation | Failure:
        answer = super().generate(request)
        if next(self._number) != self._at or self._corrupt is None:
            return answer
        assert isinstance(answer, Generation)
        return self._corrupt(answer)


class Unnamable(InProcess):
    """An engine whose version does not fit the format."""

    def report(self) -> EngineReport:
        made = super().report()
        return replace(made, engine=replace(made.engine, version="b1\u202e2"))


def corrupting(
    corrupt: Corrupt | None = None, *, at: int = BAD
) -> Callable[[Campaign], Corrupting]:
    return partial(Corrupting, corrupt, at)


def around(*, start: str = "2026-11-21T09:00:00Z", lost: list[str] | None = None) -> RunContext:
    """A fake machine; `lost` collects the reasons of failed trials."""

    def observe(event: object) -> None:
        if lost is not None and isinstance(event, TrialEnded) and event.failure is not None:
            lost.append(event.failure.detail)

    assert KNOWN.environment is not None
    state = KNOWN.environment[0]
    return replace(
        context(),
        snapshot=lambda moment: replace(state, moment=moment),
        now=lambda: start,
        clock=count(step=7.0).__next__,
        observe=observe,
    )


def measured(
    path: Path,
    *,
    runner: Runner | None = None,
    machine: RunContext | None = None,
    resume: bool = False,
) -> Submission:
    """Measure the plan on a working engine and machine, unless others are given."""
    return measure(
        PLAN,
        runner=runner or corrupting(),
        context=machine or around(),
        work_file=path,
        resume=resume,
    )


def assert_written(submission: Submission, folder: Path, *, good: int = TRIALS - 1) -> None:
    """Check that the gate accepts the file, and that it has every trial of the plan once."""
    result_file.write(submission, folder / "results" / "community")
    trials = submission.trials
    assert not findings(folder / "results")
    assert len({(trial.arm, trial.prompt, trial.block) for trial in trials}) == TRIALS
    assert len(trials) == TRIALS
    assert [trial.outcome for trial in trials].count("ok") == good
    bad = {trial.reason for trial in trials if trial.outcome == "failed"}
    assert bad == ({"bad-answer"} if good < TRIALS else set())


@pytest.mark.parametrize("case", CORRUPTED)
@pytest.mark.parametrize("at", [0, BAD, TRIALS - 1])
def test_an_impossible_answer_fails_and_the_others_are_written(
    case: str, at: int, tmp_path: Path
) -> None:
    corrupt, rule = CORRUPTED[case]
    lost: list[str] = []

    submission = measured(
        tmp_path / "run.jsonl", runner=corrupting(corrupt, at=at), machine=around(lost=lost)
    )

    assert_written(submission, tmp_path)
    assert [detail.rpartition("[")[2] for detail in lost] == [f"{rule}]"]


def test_an_arm_with_only_impossible_answers_is_abandoned_and_the_others_are_written(
    tmp_path: Path,
) -> None:
    class Restarting(InProcess):
        def generate(self, request: TrialRequest) -> Generation | Failure:
            answer = super().generate(request)
            corrupt, _ = CORRUPTED["no time"]
            return corrupt(answer) if request.arm == "draft-model-n4" else answer  # type: ignore[arg-type]  # no failure

    submission = measured(tmp_path / "run.jsonl", runner=partial(Restarting, FakeRig()))

    result_file.write(submission, tmp_path / "results" / "community")
    assert not findings(tmp_path / "results")
    failed = [trial.arm for trial in submission.trials if trial.outcome == "failed"]
    assert failed == ["draft-model-n4"] * 3


@pytest.mark.parametrize(
    ("at", "stated"),
    [
        (0, {"drafted": 4, "accepted": 9}),
        (BAD, {"drafted": 4, "accepted": 9}),
        (0, {"decode_ms": 1e15}),
        (BAD, {"output_tokens": 0}),
    ],
)
def test_a_journal_with_an_impossible_answer_is_resumed_to_a_file(
    at: int, stated: dict[str, float], tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    whole = measured(path)
    with edited(path, "trial") as trials:
        trials[at]["trial"] |= stated

    resumed = measured(path, resume=True)

    assert_written(resumed, tmp_path)
    assert resumed.trials[at].outcome == "failed"
    others = [trial.decode_ms for trial in whole.trials if trial.order != at]
    assert [trial.decode_ms for trial in resumed.trials if trial.order != at] == others


@pytest.mark.parametrize(
    ("answers", "good"),
    [([3], TRIALS), (range(TRIALS), TRIALS - 6)],  # one answer to code-1, or all six
)
@pytest.mark.parametrize("tokens", [2045, 10**12])
def test_a_wrong_prompt_length_in_one_answer_does_not_fail_the_others(
    answers: Sequence[int], good: int, tokens: int, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    measured(path)
    with edited(path, "trial") as trials:
        for at in answers:
            if trials[at]["trial"]["prompt"] == trials[3]["trial"]["prompt"]:
                trials[at]["prompt"]["tokens"] = tokens

    resumed = measured(path, resume=True)

    assert_written(resumed, tmp_path, good=good)


@pytest.mark.parametrize(
    ("kind", "field", "stated"),
    [
        ("warmup", "output_tokens", -1),
        ("snapshot", "load_1min", -7.5),
    ],
)
def test_a_journal_with_an_impossible_state_of_the_machine_is_resumed_without_it(
    kind: str, field: str, stated: float, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    measured(path)
    with edited(path, kind) as (first, *_):
        first[kind][field] = stated

    resumed = measured(path, resume=True)

    assert_written(resumed, tmp_path, good=TRIALS)
    assert len(resumed.warmups or ()) == (2 if kind == "warmup" else 3)
    assert len(resumed.environment or ()) == (2 if kind == "snapshot" else 3)


def test_a_run_that_is_killed_and_gets_a_bad_answer_while_the_clock_is_set_back_loses_nothing(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.jsonl"
    measured(path)
    data = path.read_bytes()
    trial = [at for at in range(len(data)) if data.startswith(b'{"fact":{"type":"trial"', at)][7]
    path.write_bytes(data[: trial + 40])  # killed while it wrote the eighth trial
    corrupt, _ = CORRUPTED["more accepted than drafted"]

    resumed = measured(
        path,
        runner=corrupting(corrupt, at=2),
        machine=around(start="2026-11-21T08:00:00Z"),
        resume=True,
    )

    assert_written(resumed, tmp_path)
    assert resumed.design.resumed == 1
    assert resumed.measured_from == "2026-11-21T09:00:00Z"
    seconds = sum(trial.decode_ms or 0.0 for trial in resumed.trials) / 1000
    assert resumed.measured_until == f"2026-11-21T09:00:{int(seconds):02d}Z"


def test_the_end_is_the_beginning_and_the_time_that_it_took(tmp_path: Path) -> None:
    # The clock of this machine counts seven seconds at every look, and the date never moves.
    clock = count(step=7.0).__next__
    looks: list[float] = []

    submission = measure(
        PLAN,
        runner=corrupting(),
        context=replace(around(), clock=lambda: looks.append(clock()) or looks[-1]),  # type: ignore[func-returns-value]
        work_file=tmp_path / "run.jsonl",
        resume=False,
    )

    took = int(looks[-1] - looks[1])  # the first look is that of the time limit
    minutes, seconds = divmod(took, 60)
    assert submission.measured_until == f"2026-11-21T09:{minutes:02d}:{seconds:02d}Z"


def test_a_name_outside_the_format_is_refused_before_the_first_trial(tmp_path: Path) -> None:
    lost: list[str] = []

    with pytest.raises(
        BadInputError, match=r"^nothing was measured.*\$\.engine\.version: .*U\+202E"
    ):
        measured(
            tmp_path / "run.jsonl", runner=partial(Unnamable, FakeRig()), machine=around(lost=lost)
        )

    assert b'"type":"trial"' not in (tmp_path / "run.jsonl").read_bytes()


def test_ctrl_c_after_the_last_trial_ends_a_run_that_is_complete(tmp_path: Path) -> None:
    class Stopped(InProcess):
        def close(self) -> None:
            raise KeyboardInterrupt

    submission = measured(
        tmp_path / "run.jsonl",
        runner=partial(Stopped, FakeRig(failing_arms={"draft-model-n4": "crashed"})),
    )

    assert submission.design.ended == "completed"
    assert len(submission.trials) == 8


@contextmanager
def edited(path: Path, kind: str) -> Iterator[list[dict[str, Any]]]:
    """Yield the facts of a kind in a journal, then write the journal with the changed facts."""
    written = filter(None, path.read_bytes().split(b"\n"))
    lines = [orjson.loads(line[9:]) for line in written if line[8:9] == b" "]
    yield [line["fact"] for line in lines if line["fact"]["type"] == kind]
    texts = [b" " + orjson.dumps(line) for line in lines]
    path.write_bytes(b"".join(b"%08x%b\n" % (zlib.crc32(text), text) for text in texts))
