"""No manipulation of a stream by a server or a proxy yields a clear but false verdict.

Each row runs two servers through the command and the gate. Its `truth` is the ratio of the rounds.
"""

import gc
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import pytest
from typer.testing import CliRunner, Result

from estimates.model import Estimate
from estimates.summary import summarize
from harness.cli import app
from harness.run import result_file
from schemas.contract import read
from schemas.submission import Submission, Trial
from tests.harness.openai.deliveries import Delivery
from tests.harness.openai.fake_answers import DRAFT, MODEL
from tests.harness.openai.fake_server import serving
from tests.harness.openai.sessions import command as started
from tests.nightly import few
from tests.pipeline.tables import findings

Outcome = Literal["interval", "requests", "flag", "failed"]
TOKENS, ROUND_MS = 33, 2.0
CLOCK_FLAG = "whole-requests-only"
# Delay that a busy machine adds to a sleep.
BUSY = 1.04


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """Two servers and their allowed outcomes; `both` applies to both, `base` and `spec` to one.

    `started` are servers that commands start.
    """

    truth: float
    comes: frozenset[Outcome]
    started: bool = False
    options: tuple[str, ...] = ()
    both: dict[str, Any] = field(default_factory=dict)
    base: dict[str, Any] = field(default_factory=dict)
    spec: dict[str, Any] = field(default_factory=dict)


def case(truth: float, *comes: Outcome, **fields: Any) -> StandIn:  # noqa: ANN401 - of `StandIn`
    return StandIn(truth=truth, comes=frozenset(comes), **fields)


TWICE = {"depth": 3, "yields": 2}  # every round of the other server yields two tokens
NO_GAIN = {"depth": 3, "yields": 2, "round_ms": 2 * ROUND_MS}
PLAIN = {"style": "plain"}

ODD = {
    "first flush after 40 ms": case(
        2.0, "interval", "requests", "flag",
        both={**PLAIN, "delivery": Delivery(from_ms=20.0)}, spec=TWICE,
    ),
    "a proxy that flushes every 30 ms": case(
        2.0, "interval", "requests", "flag",
        both={**PLAIN, "delivery": Delivery(every_ms=10.0)}, spec=TWICE,
    ),
    "a first chunk of 12 tokens": case(
        2.0, "interval", both={**PLAIN, "delivery": Delivery(first=12)}, spec=TWICE
    ),
    "a first chunk of 12 tokens of one server": case(
        1.0, "interval", both=PLAIN, spec={**NO_GAIN, "delivery": Delivery(first=12)}
    ),
    "a first chunk of 20 short words": case(
        1.0, "requests",
        both={"style": "sglang", "short": 20}, spec={**NO_GAIN, "delivery": Delivery(first=20)},
    ),
    "the same where prompts may be cached": case(
        1.0, "flag", "interval",
        both={**PLAIN, "short": 20}, spec={**NO_GAIN, "delivery": Delivery(first=20)},
    ),
    "the same of servers that are started": case(
        1.0, "requests", started=True,
        both={**PLAIN, "short": 20}, spec={**NO_GAIN, "delivery": Delivery(first=20)},
    ),
    "the same of two requests at once": case(
        1.0, "interval", options=("--concurrency", "2"),
        both={"style": "sglang", "short": 20}, spec={**NO_GAIN, "delivery": Delivery(first=20)},
    ),
    "the same in an answer of 8 ms": case(
        1.0, "interval", "requests", both={"style": "sglang", "short": 20, "round_ms": 0.25},
        spec={**NO_GAIN, "round_ms": 0.5, "delivery": Delivery(first=20)},
    ),
    "a time that leaves half out, of 8 ms": case(
        1.0, "interval", both={"style": "llama-server", "round_ms": 0.25},
        spec={**NO_GAIN, "round_ms": 0.5, "stated": 0.5},
    ),
    "ids at hand, a first chunk of 12": case(
        1.0, "interval", spec={**NO_GAIN, "delivery": Delivery(first=12)}
    ),
    "ids at hand, a proxy": case(
        1.0, "interval", "requests", both={"delivery": Delivery(every_ms=10.0)}, spec=NO_GAIN
    ),
    "a server that states half of the wall": case(
        1.0, "interval", "requests", "failed",
        both={"style": "llama-server", "stated": 1.0}, spec={**NO_GAIN, "stated": 0.5},
    ),
    "the same in a long answer": case(
        1.0, "failed",
        both={"style": "llama-server", "stated": 1.0, "round_ms": 4.0},
        spec={**NO_GAIN, "round_ms": 8.0, "stated": 0.5},
    ),
    "usage of 1.2 times what was written": case(
        1.0, "failed", both=PLAIN, spec={**NO_GAIN, "counts": 1.2}
    ),
    "reasoning that is counted and not shown": case(
        1.0, "failed", both=PLAIN, spec={**NO_GAIN, "hidden": 12, "admits": True}
    ),
    "reasoning that nobody admits": case(
        1.0, "failed", both=PLAIN, spec={**NO_GAIN, "hidden": 12}
    ),
    "one of two servers caches prompts": case(
        1.0, "interval",
        both={**PLAIN, "delivery": Delivery(prompt_ms=30.0)},
        spec={**NO_GAIN, "delivery": Delivery(prompt_ms=30.0, caches=True)},
    ),
}  # fmt: skip
HONEST = {
    "vLLM": case(2.0, "interval", spec=TWICE),
    "SGLang": case(2.0, "interval", both={"style": "sglang"}, spec=TWICE),
    "llama.cpp": case(
        2.0, "interval", both={"style": "llama-server", "stated": 1.0}, spec=TWICE
    ),
    "Ollama": case(2.0, "interval", both={"style": "ollama"}, spec=TWICE),
    "LM Studio, one server": case(
        2.0, "interval", both={"style": "lm-studio"}, spec=TWICE
    ),
    "one token a chunk": case(
        2.0, "interval", both={**PLAIN, "delivery": Delivery(singly=True)}, spec=TWICE
    ),
    "mlx_lm, with comments": case(
        2.0, "interval", spec=TWICE,
        both={**PLAIN, "delivery": Delivery(singly=True, before=b": keepalive 36/37\n\n")},
    ),
    "lines that end in CRLF": case(
        2.0, "interval", both={**PLAIN, "delivery": Delivery(line=b"\r\n")}, spec=TWICE
    ),
    "a round a chunk, lines end in CR, after a byte-order mark": case(
        2.0, "interval",
        both={**PLAIN, "delivery": Delivery(line=b"\r", before=b"\xef\xbb\xbf")}, spec=TWICE,
    ),
}  # fmt: skip


def command(behaviour: dict[str, Any]) -> str:
    """The command line of a stand-in with this behaviour."""
    return started("--as", pickle.dumps(behaviour).hex())


@contextmanager
def servers(row: StandIn) -> Iterator[tuple[str, ...]]:
    """The options that name both servers of a row."""
    given: dict[str, Any] = {"round_ms": ROUND_MS, **row.both}
    plain, drafting = ({**given, **own} for own in (row.base, row.spec))
    if row.started:
        yield "--server-command", command(plain), "--spec-server-command", command(drafting)
        return
    with serving(**plain) as base, serving(**drafting) as spec:
        yield "--base-url", base.url, "--spec-base-url", spec.url


def run(row: StandIn, output: Path) -> Result:
    """The command on both servers of a row."""
    with servers(row) as named:
        arguments = [
            "run", "--runner", "openai", *named, *row.options,
            "--method", "draft-model:n_max=3", "--draft", DRAFT, "--backend", "cpu",
            "--tasks", "code", "--prompts", "3", "--blocks", "2", "--max-tokens", str(TOKENS),
            "--served-model", MODEL, "-o", str(output),
        ]  # fmt: skip
        return CliRunner().invoke(app, arguments)


def outcome(found: Estimate, truth: float) -> Outcome:
    """The outcome of a row; its figure must not contradict the truth."""
    interval = found.interval if found.speedup is not None else found.whole_request_interval
    if interval is None:
        return "flag" if found.verdict == "uncertain" else "failed"
    assert interval.low <= truth * BUSY
    assert interval.high >= truth / BUSY
    return "interval" if found.speedup is not None else "requests"


def exactly(trial: Trial) -> Trial:
    """The same times of a clock that needs no check."""
    return replace(trial, grain_ms=None, one_token_ms=None)


@pytest.fixture
def never_busy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the processor look idle before a campaign, and disable garbage collection during it."""
    monkeypatch.setattr("psutil.cpu_percent", lambda interval: 0.0 * interval)
    gc.disable()
    yield
    gc.enable()


@pytest.mark.long
@pytest.mark.usefixtures("cache_dir", "never_busy")
@pytest.mark.parametrize("name", few([*ODD, *HONEST], 5))
def test_no_verdict_contradicts_the_truth(name: str, tmp_path: Path) -> None:
    row = {**ODD, **HONEST}[name]
    output = tmp_path / "out.json"

    done = run(row, output)

    if not output.exists():
        assert done.exit_code != 0
        assert done.stderr.count("Error:") == 1
        return
    submission = read(output.read_bytes())
    assert isinstance(submission, Submission)
    result_file.write(submission, tmp_path / "results" / "community")
    assert not findings(tmp_path / "results")
    summary = summarize(replace(submission, environment=None))  # whatever else the machine does
    (found,) = (each for each in summary.estimates if each.task == "code")
    assert outcome(found, row.truth) in row.comes, (found, done.stderr)
    if name in HONEST:
        assert CLOCK_FLAG not in {flag.name for flag in summary.flags}
        exact = replace(submission, trials=tuple(map(exactly, submission.trials)))
        (bare,) = (each for each in summarize(exact).estimates if each.task == "code")
        assert found.interval is not None
        assert bare.interval is not None
        assert found.interval.log_half_width <= 1.2 * bare.interval.log_half_width
