"""Check that killed runs lose and duplicate nothing: `make bench-durability` kills dozens of runs.

Runs are killed with `kill -9` at random moments, including after a resume, until all kills are used
up. Many of the runs use the simulated engine, a few the real engine. A kill hits the whole process
tree or only the parent. The exit code is 1 if anything was lost, duplicated or changed.
"""

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from bench import durability_run
from bench.durability_kill import Subject, Survivor, torment
from harness import files
from harness.campaign.from_options import campaign_from
from harness.campaign.options import Options
from harness.run.execute import utc_now
from harness.run.journal import fingerprint

COMMAND = "python -m bench.durability"
KILLS = {"fake": 50, "llama-cpp-python": 5}
SUITE = Path(__file__).with_name("aa.toml")
_MOST_KILLS_OF_A_RUN = 4
# The approximate duration of each run without a kill.
_LONGEST_S = {"fake": 1.5, "llama-cpp-python": 60.0}


def main(arguments: Sequence[str] | None = None) -> int:
    """Kill runs, print a line per run and the table, and write the figures with `--output`."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--output", type=Path, help="JSON file for the figures")
    chosen = parser.parse_args(arguments)
    survivors = {name: list(_survivors(name, chosen.seed)) for name in KILLS}
    rows = [_row(name, runs) for name, runs in survivors.items()]
    _say("", *_table(rows))
    if chosen.output:
        about = {"command": COMMAND, "date": utc_now()[:10], "seed": chosen.seed}
        runs = [{"runner": name, **asdict(run)} for name, each in survivors.items() for run in each]
        text = json.dumps({**about, "rows": rows, "runs": runs}, indent=2) + "\n"
        chosen.output.write_text(text, "utf-8")
    return 1 if any(row["problems"] for row in rows) else 0


def _survivors(name: str, seed: int) -> Iterator[Survivor]:
    rng = random.Random(f"{seed} {name}")  # noqa: S311 - moments, not secrets
    left = KILLS[name]
    while left:
        kills = min(left, rng.randint(1, _MOST_KILLS_OF_A_RUN))
        with tempfile.TemporaryDirectory() as folder:
            subject = SUBJECTS[name](Path(folder), rng.randrange(2**32))
            run = torment(subject, kills, rng, ("parent", "tree"))
        left -= len(run.kills)
        on_disk = ", ".join(str(kill.trials_on_disk) for kill in run.kills) or "none in time"
        _say(f"{name:18} killed at {on_disk} of {run.trials} trials", *run.problems)
        yield run


def _fake(folder: Path, _seed: int) -> Subject:
    return Subject(
        command=(sys.executable, "-m", "bench.durability_run", str(folder)),
        journal=durability_run.work_file(folder),
        result=durability_run.result_file(folder),
        longest_s=_LONGEST_S["fake"],
    )


def _real(folder: Path, seed: int) -> Subject:
    """The command of a real run, as a contributor starts it; each seed has its own journal."""
    options = Options(suite=str(SUITE), blocks=2, max_output_tokens=12, seed=seed)
    campaign = campaign_from(options, say=lambda _: None)
    size = ("--suite", str(SUITE), "--blocks", "2", "--max-tokens", "12", "--seed", str(seed))
    return Subject(
        command=(sys.executable, "-m", "harness", "run", *size, "--output", f"{folder}/x.json"),
        journal=files.directory() / "work" / f"{fingerprint(campaign)[:16]}.jsonl",
        result=folder / "x.json",
        longest_s=_LONGEST_S["llama-cpp-python"],
    )


SUBJECTS = {"fake": _fake, "llama-cpp-python": _real}


def _row(name: str, runs: Sequence[Survivor]) -> dict[str, object]:
    kills = [kill for run in runs for kill in run.kills]
    return {
        "runner": name,
        "kills": len(kills),
        "runs": len(runs),
        "valid_results": sum(run.trials > 0 for run in runs),
        "trials_in_results": sum(run.trials for run in runs),
        "problems": sum(len(run.problems) for run in runs),
    }


def _table(rows: Sequence[dict[str, object]]) -> Iterator[str]:
    yield "  ".join(f"{name:>17}" for name in rows[0])
    for row in rows:
        yield "  ".join(f"{value!s:>17.17}" for value in row.values())


def _say(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
