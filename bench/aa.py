"""Compare an arm with itself on this machine, while it is quiet and while another program is busy.

`make bench-aa` runs short campaigns of the default model with the code that measures real
campaigns. Every second campaign runs beside a process that takes a core in bursts. Campaigns that
have a result are not measured again, so after Ctrl-C the same command continues where it stopped.

The true ratio is 1. The exit code is 1 if fewer than 95 % of the intervals from quiet campaigns, or
from loaded campaigns, contain it. With twenty campaigns of a kind, one interval may miss it.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import get_args

from bench import bursts
from bench.aa_campaign import AaOutcome, Part, outcome, plan
from bench.aa_table import document, rows, table
from harness.campaign.model import Campaign
from harness.errors import HarnessError
from harness.machine.detect import machine
from harness.machine.environment import Watch
from harness.run.execute import RunContext
from harness.run.journal import fingerprint
from harness.run.result_file import write
from harness.runners import CONNECT
from harness.runners.options import ConnectionOptions
from schemas import contract
from schemas.submission import Submission
from tests.harness.campaigns import measure

CAMPAIGNS = 20
COMMAND = "python -m bench.aa"
KEPT = Path("build/bench/aa")
PROMISE = 0.95


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the missing campaigns, print the table, and write the figures with `--output`."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--campaigns", type=int, default=CAMPAIGNS, help="campaigns of each kind")
    parser.add_argument("--keep", type=Path, default=KEPT, help="folder for the result files")
    parser.add_argument("--output", type=Path, help="JSON file for the figures")
    chosen = parser.parse_args(arguments)
    measured: list[tuple[Submission, AaOutcome]] = []
    try:
        for each in _campaigns(chosen.campaigns, chosen.keep):
            measured.append(each)
            _say(_line(each[1]))
    except (HarnessError, ValueError) as error:
        _say(f"stopped: {error}")
        return 3
    except KeyboardInterrupt:
        _say("stopped; run the same command again to continue")
        return 130
    outcomes = [found for _, found in measured]
    _say("", *table(outcomes))
    if chosen.output:
        chosen.output.write_text(document(outcomes, measured[-1][0], COMMAND), "utf-8")
    covered = [row.coverage for row in rows(outcomes) if row.coverage is not None]
    return int(min(covered) < PROMISE)


def _campaigns(count: int, kept: Path) -> Iterator[tuple[Submission, AaOutcome]]:
    """Yield quiet and loaded campaigns in turn, so that both kinds run during the same hours."""
    for seed in range(count):
        for part in get_args(Part):
            submission = _result(part, seed, kept)
            yield submission, outcome(submission, part, seed)


def _result(part: Part, seed: int, kept: Path) -> Submission:
    campaign = plan(seed)
    name = f"{part}-{seed:02}-{fingerprint(campaign)[:12]}"
    path = kept / f"{name}.json"
    if not path.exists():
        with bursts.running(seed) if part == "loaded" else nullcontext():
            submission = measured(campaign, kept / f"{name}.jsonl")
        write(submission, path)
    known = contract.read(path.read_bytes(), file=path.name)
    if not isinstance(known, Submission):
        message = f"{path} is no longer valid ({known[0].line()}); remove it"
        raise ValueError(message)  # noqa: TRY004 - about the file, not about a type
    return known


def measured(campaign: Campaign, work_file: Path) -> Submission:
    submission = measure(
        campaign,
        runner=CONNECT["llama-cpp-python"](ConnectionOptions()).open,
        context=RunContext(machine=machine(), snapshot=Watch().snapshot),
        work_file=work_file,
        resume=False,
    )
    work_file.unlink()
    if submission.design.ended == "interrupted":
        raise KeyboardInterrupt
    return submission


def _line(found: AaOutcome) -> str:
    interval = f"[{found.low:.3f}, {found.high:.3f}]"
    misses = "" if found.low <= 1 <= found.high else " MISSES 1"
    return f"{found.part:7}{found.seed:3}  {found.ratio:.3f} {interval}{misses}"


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
