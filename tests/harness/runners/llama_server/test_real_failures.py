"""A stock llama-server that cannot run gives a clear failure, also in a campaign."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

import psutil
import pytest

from estimates.summary import summarize
from harness.campaign.model import ArmPlan, Campaign
from harness.runners import probes
from harness.runners.base import FailedError, Failure, Generation, PreparedArm, TrialRequest
from harness.runners.http.process import HOST, ServerProcess, free_port
from harness.runners.llama_server import launch
from harness.runners.llama_server.binary import find
from harness.runners.llama_server.session import LlamaServerSession
from harness.runners.options import ConnectionOptions
from schemas.method import Method
from tests.harness.campaigns import BASELINE, DRAFT, campaign, of_real_files, run
from tests.processes import (
    PATIENCE_S,
    all_end,
    children,
    command_line,
    eventually,
    start_interruptible,
)

pytestmark = pytest.mark.engine

# llama.cpp's own sizes: 61 tokens of text are needed before the first draft.
NEVER = ArmPlan(
    id="never",
    role="speculation",
    method=Method(type="ngram-simple", n_max=48, ngram_size=12, min_hits=1),
    baseline="baseline",
)
TEXT = "Say yes."


def plan(target: Path, *arms: ArmPlan, draft: Path | None = None, **sizes: int) -> Campaign:
    return campaign(
        arms=(BASELINE, *arms),
        texts=(TEXT,),
        blocks=1,
        target=target,
        draft=draft or target,
        **{"max_output_tokens": 8, "context_tokens": 256, **sizes},  # type: ignore[arg-type]
    )


def started(
    planned: Campaign, binary: str, port: Callable[[], int] = free_port, limit_s: float = PATIENCE_S
) -> ServerProcess:
    return launch.start(BASELINE, planned, find(binary), limit_s=limit_s, port=port)


def failure(
    planned: Campaign, binary: str, port: Callable[[], int] = free_port, limit_s: float = PATIENCE_S
) -> Failure:
    with pytest.raises(FailedError) as failed:
        started(planned, binary, port, limit_s)
    return failed.value.failure


def test_a_method_that_never_fires_and_a_bad_draft_get_different_reasons(
    binary: str, nonsense: Path, unrelated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probes, "PASSES", 1)
    planned = of_real_files(plan(nonsense, NEVER, DRAFT, draft=unrelated))

    measured = run(
        replace(planned, interleaved="block"),
        tmp_path / "work.jsonl",
        runner=partial(LlamaServerSession, ConnectionOptions(binary=binary)),
    )

    arms = {arm.id: arm for arm in measured.arms}
    assert arms["draft-model-n4"].reason == "vocabulary-mismatch"
    assert {trial.arm: trial.drafted for trial in measured.trials} == {"baseline": 0, "never": 0}
    verdicts = {(each.arm, each.task): each.verdict for each in summarize(measured).estimates}
    assert verdicts["never", "code"] == "never-drafted"
    # The server's curve ends at 16 tokens, though n-grams may draft 48.
    assert measured.probes is not None
    assert measured.probes.verification is not None
    assert measured.probes.verification.widths == tuple(range(1, 17))


def test_a_broken_file_does_not_load_and_the_log_says_why(
    binary: str, nonsense: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(nonsense.read_bytes()[:5_000_000])

    found = failure(plan(broken), binary)

    assert found.reason == "load-failed"
    assert "error loading model" in found.detail


def test_a_context_that_does_not_fit_is_out_of_memory(
    binary: str, weights: Path, tmp_path: Path
) -> None:
    small = tmp_path / "llama-server"
    small.write_text(f'#!/bin/sh\nulimit -v 2000000\nexec {binary} "$@"\n', "utf-8")
    small.chmod(0o755)

    # 22.5 KiB of cache for a token: 6.4 GiB, where 2 GB are allowed.
    found = failure(plan(weights, context_tokens=300_000), str(small))

    assert found.reason == "out-of-memory"
    assert "failed to allocate" in found.detail


def test_a_port_that_is_taken_is_left_for_another(binary: str, nonsense: Path) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        ports = chain((taken.getsockname()[1],), iter(free_port, None))
        found = started(plan(nonsense), binary, ports.__next__)

    found.end()


def test_a_server_that_is_not_ready_in_time_is_ended(binary: str, nonsense: Path) -> None:
    before = children()

    found = failure(plan(nonsense), binary, limit_s=0.0)

    assert found.reason == "timed-out"
    assert "raise --timeout" in found.detail
    assert not children() - before


def test_a_server_killed_while_it_answers_is_a_crash_and_the_next_pass_runs(
    binary: str, nonsense: Path
) -> None:
    planned = plan(nonsense, max_output_tokens=4000, context_tokens=4096)
    session = LlamaServerSession(ConnectionOptions(binary=binary), planned)
    request = TrialRequest(arm="baseline", prompt="code-1", max_output_tokens=4000)
    before = children()
    try:
        assert isinstance(session.prepare("baseline"), PreparedArm)
        (server,) = (pid for pid in children() - before if "--port" in command_line(pid))
        killer = threading.Thread(target=kill_while_it_computes, args=(server,))
        killer.start()
        crashed = session.generate(request)
        killer.join()
        after = session.generate(replace(request, block=1, max_output_tokens=4))
    finally:
        session.close()

    assert isinstance(crashed, Failure)
    assert crashed.reason == "crashed"
    assert "signal 9" in crashed.detail
    assert isinstance(after, Generation)
    assert not children() - before


def kill_while_it_computes(pid: int) -> None:
    """Wait until a process has computed for a moment, and kill it."""
    process = psutil.Process(pid)
    idle_s = sum(process.cpu_times()[:2])
    eventually(lambda: sum(process.cpu_times()[:2]) > idle_s + 0.1)
    process.kill()


def test_ctrl_c_keeps_measurements_and_leaves_no_server(
    binary: str, nonsense: Path, tmp_path: Path
) -> None:
    command = (
        *(sys.executable, "-m", "harness", "run", "--runner", "llama-server"),
        *("--server-binary", binary, "--target", str(nonsense), "--method", "ngram-cache"),
        *("--tasks", "math", "--prompts", "2", "--blocks", "9", "--max-tokens", "8"),
        *("--threads", "1"),
        *("--output", str(tmp_path / "out.json")),
    )
    environment = {**os.environ, "DRAFTMAP_CACHE": str(tmp_path / "cache")}
    journal, servers, before = tmp_path / "cache" / "work", set[int](), children()

    def measured() -> bool:
        servers.update(children() - before - {harness.pid})
        return _trials(journal)

    with start_interruptible(command, env=environment) as harness:
        assert eventually(measured)
        harness.send_signal(signal.SIGINT)
        said = harness.communicate(timeout=PATIENCE_S)[1]

    assert servers
    assert harness.returncode == 130, said
    assert "Next, about " in said
    assert " --resume" in said.partition("Next, about ")[2]
    assert (tmp_path / "out.json").is_file()
    assert all_end(servers)


def _trials(journal: Path) -> bool:
    return any('"trial"' in path.read_text("utf-8") for path in journal.glob("*.jsonl"))
