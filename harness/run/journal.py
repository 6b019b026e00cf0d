"""Write each measurement to disk, as one line (a "fact"), before the next one starts.

A killed run or a power cut loses at most the running trial. A line has a checksum: a damaged line
is skipped, and its trial is measured again.
"""

import hashlib
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Self

import msgspec
import orjson
from filelock import FileLock, Timeout
from msgspec import Struct

from harness.campaign.model import Campaign
from harness.errors import BadInputError, MachineError
from harness.files import directory, sync_directory, usable
from schemas.codec import encode
from schemas.submission import Arm, Engine, Probes, Prompt, Settings, Snapshot, Trial, Warmup
from schemas.vocabulary.say import count


class _Fact(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type"):
    """One line of the journal (a "fact"); the tag `type` is its kind."""


class Started(_Fact, frozen=True, kw_only=True, tag="started"):
    fingerprint: str
    measured_from: str


class Resumed(_Fact, frozen=True, kw_only=True, tag="resumed"):
    measured_from: str


class EngineFact(_Fact, frozen=True, kw_only=True, tag="engine"):
    engine: Engine
    settings: Settings


class ArmFact(_Fact, frozen=True, kw_only=True, tag="arm"):
    arm: Arm


class WarmupFact(_Fact, frozen=True, kw_only=True, tag="warmup"):
    warmup: Warmup


class ProbesFact(_Fact, frozen=True, kw_only=True, tag="probes"):
    probes: Probes


class SnapshotFact(_Fact, frozen=True, kw_only=True, tag="snapshot"):
    snapshot: Snapshot


class TrialFact(_Fact, frozen=True, kw_only=True, tag="trial"):
    """A trial, and the output to compare: its text, its tokens, and a baseline's margins."""

    trial: Trial
    prompt: Prompt
    tokens: tuple[int, ...] | None = None
    margins: tuple[float, ...] | None = None
    text: str | None = None


class OneTokenFact(_Fact, frozen=True, kw_only=True, tag="one-token"):
    """The time of a one-token request; `read_whole` means that no part of its prompt was cached."""

    arm: str
    prompt: str
    block: int
    wall_ms: float
    read_whole: bool


Fact = (
    Started
    | Resumed
    | EngineFact
    | ArmFact
    | WarmupFact
    | ProbesFact
    | SnapshotFact
    | TrialFact
    | OneTokenFact
)


class _Line(Struct, frozen=True):
    fact: Fact


# The first character marks a line as original or copy: facts that are not measured again are
# written twice.
_ONCE, _COPY = b" ", b"="


class Journal:
    """An append-only file of facts. `facts` has those read from the file and those added since."""

    def __init__(self, path: Path, facts: list[Fact], lock: FileLock | None = None) -> None:
        self.facts, self._path, self._lock = facts, path, lock
        # Unbuffered, because closing a buffered file would retry a write that a full disk refused.
        self._file = path.open("ab", buffering=0)

    @classmethod
    def open(
        cls, path: Path, campaign: Campaign, *, measured_from: str, resume: bool = False
    ) -> Self:
        """Start a new journal, replacing any existing journal, or continue it.

        Raises `BadInputError` if the journal to resume belongs to a different campaign,
        `MachineError` if another run is writing to the journal.
        """
        lock = _locked(path)
        facts, mark = read(path) if resume else [], fingerprint(campaign)
        if facts and not (isinstance(facts[0], Started) and facts[0].fingerprint == mark):
            raise BadInputError(
                f"{path} was written with other options or models; repeat those options to "
                "resume, or start over without --resume"
            )
        if not resume:
            path.unlink(missing_ok=True)
        journal = cls(path, facts, lock)
        if facts:
            journal.add(Resumed(measured_from=measured_from))
        else:  # a journal without facts was killed before its first line: nothing was measured
            journal.add(Started(fingerprint=mark, measured_from=measured_from))
            sync_directory(path.parent)
        return journal

    def add(self, fact: Fact) -> None:
        """Append a fact, which is on disk on return. Raises `MachineError` if writing fails."""
        line = _line(fact)
        # Append in memory first: Ctrl-C may arrive after the line is on disk, and the result,
        # written from memory, must contain the fact.
        self.facts.append(fact)
        try:
            while line:  # a nearly full disk may accept only part of the line
                line = line[self._file.write(line) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            raise MachineError(
                f"{self._path} cannot be written ({error.strerror}); the measurements so far "
                "have been saved: free some space, then repeat the command with --resume"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        if self._lock is not None:
            self._lock.release()


def _locked(path: Path) -> FileLock:
    """Acquire the lock of a journal; the end of the process releases the lock."""
    lock = FileLock(path.with_suffix(".lock"), thread_local=False)
    with usable():
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise MachineError(
                f"another run is writing {path}; wait until that run ends, or stop it first"
            ) from error
    return lock


def _line(fact: Fact) -> bytes:
    """Return a fact as bytes.

    A line begins and ends with a line break, so that damage to one line leaves the next intact.
    """
    text = orjson.dumps(encode(_Line(fact=fact)))
    signs = (_ONCE,) if isinstance(fact, TrialFact) else (_ONCE, _COPY)
    return b"".join(b"\n%08x%b%b\n" % (zlib.crc32(sign + text), sign, text) for sign in signs)


def _texts(data: bytes) -> Iterator[bytes]:
    """Yield the JSON of the undamaged lines.

    A fact may have a copy in the next line, which is used only if the first line is damaged.
    """
    damaged = False
    for line in filter(None, data.split(b"\n")):
        is_copy, before = line[8:9] == _COPY, damaged
        damaged = line[:8] != b"%08x" % zlib.crc32(line[8:])
        if not damaged and (before or not is_copy):
            yield line[9:]


def read(path: Path) -> list[Fact]:
    """Return the facts in a journal's undamaged lines, with the trials renumbered from 0."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise BadInputError(
            f"nothing to resume: {path} does not exist; leave out --resume"
        ) from None
    try:
        facts = list(_facts(data))
    except msgspec.DecodeError as error:
        raise BadInputError(
            f"{path} is not a journal of this version ({error}); start over without --resume"
        ) from error
    if not facts and data.startswith(b"{"):
        raise BadInputError(f"{path} is not a journal of this version; start over without --resume")
    return facts


def _facts(data: bytes) -> Iterator[Fact]:
    order = 0
    for text in _texts(data):
        fact = msgspec.json.decode(text, type=_Line).fact
        if isinstance(fact, TrialFact):
            fact = msgspec.structs.replace(fact, trial=replace(fact.trial, order=order))
            order += 1
        yield fact


def path_of(campaign: Campaign) -> Path:
    """Return the path of a campaign's journal in the cache."""
    return directory() / "work" / f"{fingerprint(campaign)[:16]}.jsonl"


def remove(path: Path) -> None:
    """Delete a journal that will not be resumed, and its lock."""
    for each in (path, path.with_suffix(".lock")):
        each.unlink(missing_ok=True)


def began(path: Path) -> str | None:
    """Return the time at which a journal was started; `None` if the journal cannot be resumed."""
    try:
        facts = read(path)
    except BadInputError:
        return None
    return facts[0].measured_from if facts and isinstance(facts[0], Started) else None


def make_way(path: Path, *, say: Callable[[str], None]) -> None:
    """Rename an earlier journal that contains trials, and tell the user.

    Otherwise a new run would replace the journal, and a forgotten --resume would cost hours.
    """
    try:
        with usable():
            trials = sum(isinstance(fact, TrialFact) for fact in read(path))
            if trials == 0:
                return
            _locked(path).release()  # fails if another run is writing the journal
            aside = path.replace(path.with_suffix(".replaced.jsonl"))
            sync_directory(path.parent)
    except BadInputError:  # no journal, or a version that cannot be resumed
        return
    say(
        f"An earlier run with these options stopped after {count(trials, 'trial')}; --resume "
        f"would continue it. This run starts over; the earlier run was moved to {aside}"
    )


def fingerprint(campaign: Campaign) -> str:
    """Return the SHA-256 of everything that determines the trials, except paths.

    Stop conditions are excluded: a campaign may be resumed with more time.
    """
    parts = {
        "target": encode(campaign.target.model),
        "drafts": [encode(draft.model) for draft in campaign.drafts],
        "arms": [encode(arm) for arm in campaign.arms],
        "prompts": [prompt.id for prompt in campaign.suite.prompts],
        "suite": campaign.suite.sha256,
        "settings": encode(campaign.settings),
        "blocks": campaign.blocks,
        "seed": campaign.seed,
        "profile": campaign.profile,
        "interleaved": campaign.interleaved,
        "engine": campaign.engine,
    }
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()
