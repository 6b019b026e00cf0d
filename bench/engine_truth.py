"""Check that a draft with known acceptance gains as much as its campaign's probes predict."""

import math
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from estimates.intervals import t_interval
from estimates.summary import summarize
from harness.campaign.model import ArmPlan, Campaign
from harness.machine.detect import machine
from harness.machine.environment import Watch
from harness.run.execute import RunContext
from harness.runners.inprocess import open_in_process
from schemas.method import Method
from tests.harness.campaigns import measure

ACCEPTANCE, DEPTH = 0.7, 4
_CAMPAIGNS = 6


def oracle(campaign: Campaign) -> dict[str, object]:
    """Compare the oracle's speedup with the prediction from probes, over several campaigns.

    One campaign's interval covers the spread of its prompts but not the error of its probes, which
    last only seconds and vary on a busy machine. Several campaigns are therefore measured, each
    with its own probes. The t interval is computed for the ratio of measured to predicted speedup.
    """
    pairs = [_measured_and_predicted(campaign) for _ in range(_CAMPAIGNS)]
    unexplained = t_interval([math.log(measured / predicted) for measured, predicted in pairs])
    predicted = math.exp(fmean(math.log(each) for _, each in pairs))
    if unexplained is None:
        raise ValueError("an interval needs several campaigns")
    return {
        "acceptance_set": ACCEPTANCE,
        "campaigns": [[round(value, 4) for value in pair] for pair in pairs],
        "predicted": round(predicted, 4),
        "speedup": round(math.exp(fmean(math.log(each) for each, _ in pairs)), 4),
        "low": round(predicted * unexplained.low, 4),
        "high": round(predicted * unexplained.high, 4),
        "agrees": unexplained.low <= 1 <= unexplained.high,
    }


def _measured_and_predicted(campaign: Campaign) -> tuple[float, float]:
    baseline = next(arm for arm in campaign.arms if arm.role == "baseline")
    arm = ArmPlan(
        id="oracle",
        role="control",
        method=Method(type="oracle", n_max=DEPTH, acceptance=ACCEPTANCE),
        baseline=baseline.id,
    )
    with tempfile.TemporaryDirectory() as folder:
        submission = measure(
            replace(campaign, arms=(baseline, arm)),
            runner=open_in_process,
            context=RunContext(machine=machine(), snapshot=Watch().snapshot),
            work_file=Path(folder) / "work.jsonl",
            resume=False,
        )
    found = next(each for each in summarize(submission).estimates if each.task is not None)
    if found.speedup is None or found.predicted_speedup is None:
        raise ValueError("the oracle's campaign gave no figure")
    return found.speedup, found.predicted_speedup
