"""Run the simulated campaign to be killed: `python -m bench.durability_run FOLDER`.

`--resume` continues from the journal in the folder. `--terminable` treats SIGTERM like Ctrl-C, as
the command line does. Each generation takes a few milliseconds, so that a kill can hit it. With
`--unending`, the last generation waits to be killed.
"""

import sys
import time
from pathlib import Path

from harness.campaign.model import Campaign
from harness.campaign.trial_order import plan
from harness.cli import treat_termination_as_ctrl_c
from harness.run.result_file import write
from harness.runners.base import Failure, Generation, Session, TrialRequest
from tests.harness.campaigns import campaign, run
from tests.harness.fake_runner import FakeRig, FakeSession

CAMPAIGN = campaign(prompts=8, blocks=8)
TRIALS = 8 * 8 * 3
_TRIAL_S = 0.002
_FOR_EVER_S = 3600.0


class UnhurriedSession(FakeSession):
    """A simulated session that waits before every answer."""

    def generate(self, request: TrialRequest) -> Generation | Failure:
        """Wait, then return the simulated answer."""
        time.sleep(_FOR_EVER_S if "--unending" in sys.argv and _is_last(request) else _TRIAL_S)
        return super().generate(request)


def unhurried(plan: Campaign) -> Session:
    """Open a session that waits before every answer."""
    return UnhurriedSession(FakeRig(), plan)


def _is_last(request: TrialRequest) -> bool:
    last = plan(CAMPAIGN)[-1]
    return (request.arm, request.prompt, request.block) == (last.arm, last.prompt, last.block)


def work_file(folder: Path) -> Path:
    """The path of a run's journal."""
    return folder / "run.jsonl"


def result_file(folder: Path) -> Path:
    """The path of a run's result."""
    return folder / "result.json"


def main(folder: Path, *, resume: bool) -> None:
    """Measure, write the result and remove the journal, as the command line does."""
    submission = run(CAMPAIGN, work_file(folder), runner=unhurried, resume=resume)
    write(submission, result_file(folder))
    if submission.design.ended == "completed":
        work_file(folder).unlink()


if __name__ == "__main__":
    if "--terminable" in sys.argv:
        treat_termination_as_ctrl_c()
    main(Path(sys.argv[1]), resume="--resume" in sys.argv)
