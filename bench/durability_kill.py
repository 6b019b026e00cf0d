"""Kill a run at random moments, resume it, and compare every trial.

At the end, a valid file must contain each trial of the plan once. Trials that were on the disk
before a kill must be unchanged.
"""

import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil

from harness.run.journal import TrialFact
from harness.run.journal import read as read_journal
from schemas.codec import Json, canonical_bytes, encode
from schemas.contract import read
from schemas.submission import Submission, Trial

Mode = Literal["parent", "tree"]

_POLL_S = 0.002
_START_LIMIT_S = 120.0
_END_LIMIT_S = 900.0
# Fields that assembling the file adds to a trial, from a comparison with the baseline.
_ADDED = ("compared_tokens", "first_divergence", "divergence_margin", "equal_words")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A command to kill, its journal and result, and the longest time that it runs before a kill.

    That time starts at the first new line in the journal or after a number of new trials, which is
    drawn at random up to `most_trials`. The options `unending` keep the command running until it is
    killed, so that even a fast machine allows the requested number of kills.
    """

    command: tuple[str, ...]
    journal: Path
    result: Path
    longest_s: float
    most_trials: int = 0
    unending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """One kill: the processes hit, when, and how many trials were on the disk by then."""

    mode: Mode
    after_s: float
    trials_on_disk: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Survivor:
    """A run that finished after its kills. `problems` lists the faults found."""

    kills: tuple[Kill, ...]
    trials: int
    problems: tuple[str, ...]


def torment(subject: Subject, kills: int, rng: random.Random, modes: Sequence[Mode]) -> Survivor:
    """Kill a run up to `kills` times at random moments, then let it finish."""
    subject.journal.unlink(missing_ok=True)  # left over from a bench that was itself stopped
    done: list[Kill] = []
    kept: dict[int, bytes] = {}
    problems: list[str] = []
    while len(done) < kills:
        mode = modes[len(done) % len(modes)]
        after_s = rng.uniform(0, subject.longest_s)
        kill = _killed(subject, mode, after_s, rng.randint(0, subject.most_trials))
        if kill is None:
            break
        done.append(kill)
        on_disk = trials_on_disk(subject.journal)
        problems += _changed(kept, on_disk, "the journal")
        kept |= on_disk
    if not _finished(subject):
        problems += _finish(subject)
    submission = read(subject.result.read_bytes(), file="result") if subject.result.exists() else ()
    if not isinstance(submission, Submission):
        problems.append(f"no valid result: {submission[0].line() if submission else 'none'}")
        return Survivor(kills=tuple(done), trials=0, problems=tuple(problems))
    problems += faults(submission, kept, resumed=len(done))
    return Survivor(kills=tuple(done), trials=len(submission.trials), problems=tuple(problems))


def trials_on_disk(journal: Path) -> dict[int, bytes]:
    """Read the trials in a journal's complete lines, as canonical bytes keyed by `order`."""
    facts = read_journal(journal) if journal.exists() else []
    trials = [fact.trial for fact in facts if isinstance(fact, TrialFact)]
    return {trial.order: canonical_bytes(encode(trial)) for trial in trials}


def faults(submission: Submission, kept: dict[int, bytes], *, resumed: int) -> list[str]:
    """List a result's faults: trials that are missing, repeated or not as they were on the disk."""
    found = {trial.order: canonical_bytes(_as_measured(trial)) for trial in submission.trials}
    problems = _changed(kept, found, "the result")
    times = Counter((each.arm, each.prompt, each.block) for each in submission.trials)
    problems += [f"{trial} occurs {count} times" for trial, count in times.items() if count > 1]
    design = submission.design
    if len(submission.trials) != design.planned_trials:
        problems.append(f"{len(submission.trials)} of {design.planned_trials} trials exist")
    if design.ended != "completed" or (design.resumed or 0) > resumed:
        problems.append(f"{design.ended} after {design.resumed} resumes, {resumed} kills")
    return problems


def _changed(kept: dict[int, bytes], found: dict[int, bytes], where: str) -> list[str]:
    lost = [f"trial {order} is lost in {where}" for order in kept.keys() - found.keys()]
    both = kept.keys() & found.keys()
    return lost + [
        f"trial {order} has changed in {where}" for order in both if kept[order] != found[order]
    ]


def _as_measured(trial: Trial) -> Json:
    document = encode(trial)
    return {key: value for key, value in document.items() if key not in _ADDED}  # type: ignore[union-attr]  # a dataclass encodes to an object


def _killed(subject: Subject, mode: Mode, after_s: float, after_trials: int) -> Kill | None:
    """Start or resume the command and kill it; `None` if the command finished first."""
    size, trials = _size(subject.journal), len(trials_on_disk(subject.journal)) + after_trials
    command = [*_command(subject), *subject.unending]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + _START_LIMIT_S
        while process.poll() is None and time.monotonic() < deadline:
            grown = _size(subject.journal) not in (size, 0)
            if grown and (not after_trials or len(trials_on_disk(subject.journal)) >= trials):
                break
            time.sleep(_POLL_S)
        try:
            process.wait(after_s)
        except subprocess.TimeoutExpired:
            _kill(process, mode)
        else:
            return None
    if _finished(subject):  # the result was complete, and the process about to exit
        return None
    on_disk = len(trials_on_disk(subject.journal))
    return Kill(mode=mode, after_s=after_s, trials_on_disk=on_disk)


def _finished(subject: Subject) -> bool:
    return subject.result.exists() and not subject.journal.exists()


def _kill(process: subprocess.Popen[bytes], mode: Mode) -> None:
    """Kill with SIGKILL; wait for surviving children to end, and kill them after a time limit."""
    children = psutil.Process(process.pid).children(recursive=True)
    os.kill(process.pid, signal.SIGKILL)
    if mode == "tree":
        for child in children:
            child.kill()
    process.wait()
    _, alive = psutil.wait_procs(children, timeout=_START_LIMIT_S)
    for child in alive:
        child.kill()


def _finish(subject: Subject) -> list[str]:
    done = subprocess.run(
        _command(subject), capture_output=True, text=True, check=False, timeout=_END_LIMIT_S
    )
    problems = [] if done.returncode == 0 else [f"resuming failed: {done.stderr.strip()[-300:]}"]
    return problems + (["the journal was left behind"] if subject.journal.exists() else [])


def _command(subject: Subject) -> list[str]:
    resume = ["--resume"] if subject.journal.exists() else []
    return [*subject.command, *resume]


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
