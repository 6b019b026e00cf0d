"""Does what is set come back? Acceptances that are known, in-process and on a real server."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from estimates.summary import summarize
from harness.execute import Surroundings, measure
from harness.model import ArmPlan
from harness.runners.llama.runner import LlamaCppPython
from schemas.submission import Oracle
from schemas.submission import Snapshot as State
from tests.bench.engine_peer import Peer
from tests.harness.campaigns import MACHINE

if TYPE_CHECKING:
    from harness.model import Campaign

RATES = (0.9, 0.6, 0.3, 0.1)
ACCEPTANCE = 0.7
_PROMPT = (504, 4683, 282, 260, 24594)
_TOKENS = 96
_ANSWERS = 2


def synthetic(target: Path, draft: Path, threads: int) -> dict[str, object]:
    """Rates that the server was told to accept at, by position, and what its counters say."""
    settings = {"model": str(target), "draft": str(draft), "n_max": len(RATES), "rates": RATES}
    with Peer(**settings, threads=threads, context_tokens=512, batch_tokens=256) as peer:
        answers = [peer.complete((*_PROMPT, 5 + each), _TOKENS) for each in range(_ANSWERS)]
        rounds, accepted = peer.accepted_by_position()
    return {
        "set": RATES,
        "rounds": rounds,
        "counted": [round(count / rounds, 3) for count in accepted],
        "counters_agree": sum(accepted) == sum(each.accepted for each in answers),
    }


def oracle(campaign: Campaign) -> list[dict[str, object]]:
    """The oracle's measured speedup with its interval, beside what the probes predict."""
    baseline = next(arm for arm in campaign.arms if arm.role == "baseline")
    arm = ArmPlan(
        id="oracle",
        role="control",
        method=Oracle(n_max=len(RATES), acceptance=ACCEPTANCE),
        baseline=baseline.id,
    )
    with tempfile.TemporaryDirectory() as folder:
        submission = measure(
            replace(campaign, arms=(baseline, arm)),
            runner=LlamaCppPython(),
            surroundings=Surroundings(machine=MACHINE, snapshot=lambda at: State(moment=at)),
            work_file=Path(folder) / "work.jsonl",
            resume=False,
            observe=lambda _event: None,
        )
    rows: list[dict[str, object]] = []
    for each in summarize(submission).estimates:
        if each.speedup is None or each.interval is None or each.predicted_speedup is None:
            continue
        rows.append(
            {
                "task": each.task or "all",
                "acceptance_set": ACCEPTANCE,
                "speedup": round(each.speedup, 4),
                "low": round(each.interval.low, 4),
                "high": round(each.interval.high, 4),
                "predicted": round(each.predicted_speedup, 4),
                "agrees": each.interval.low <= each.predicted_speedup <= each.interval.high,
            }
        )
    return rows
