"""Write every measured fact to disk, one line each, before the next measurement starts.

A killed run loses at most the trial that was running, and so does a power cut. An incomplete last
line is cut off on resume.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Self

import msgspec
import orjson
from msgspec import Struct

from harness.campaign.model import Campaign
from harness.errors import BadInputError, MachineError
from harness.files import directory, sync_directory, usable
from schemas.codec import encode
from schemas.submission import Arm, Engine, Probes, Prompt, Settings, Snapshot, Trial, Warmup
from schemas.vocabulary.say import count


class _Fact(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type"):
    """One line of the journal; its kind is the tag `type`."""


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
    """A trial, with its output for the comparison: text, tokens, and for a baseline margins."""

    trial: Trial
    prompt: Prompt
    tokens: tuple[int, ...] | None = None
    margins: tuple[float, ...] | None = None
    text: str | None = None


class OneTokenFact(_Fact, frozen=True, kw_only=True, tag="one-token"):
    """A request for one token, asked after a pass; `read_whole`: no cache had its prompt."""

    arm: str
    prompt: str
    block: int
    wall_ms: float
    read_whole: bool


class DroppedFact(_Fact, frozen=True, kw_only=True, tag="dropped"):
    """An arm that gets no further trials."""

    arm: str


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
    | DroppedFact
)


class _Line(Struct, frozen=True):
    fact: Fact


class Journal:
    """An append-only file of facts. `facts` holds what was there and what was added."""

    def __init__(self, path: Path, facts: list[Fact]) -> None:
        self.facts = facts
        self._path = path
        # Unbuffered: closing a buffered file would try again to write what a full disk refused.
        self._file = path.open("ab", buffering=0)

    @classmethod
    def create(cls, path: Path, campaign: Campaign, *, measured_from: str) -> Self:
        """Start a new journal, replacing an existing one."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        return cls(path, []).started(campaign, measured_from)

    @classmethod
    def reopen(cls, path: Path, campaign: Campaign, *, measured_from: str) -> Self:
        """Continue a journal. Raises `BadInputError` if it belongs to another campaign."""
        facts = read(path)
        if not facts:  # killed before its first line was complete: nothing was measured
            return cls(path, []).started(campaign, measured_from)
        first = facts[0]
        if not isinstance(first, Started) or first.fingerprint != fingerprint(campaign):
            message = (
                f"{path} was written with other options or models; "
                "use the same ones to resume, or start over without --resume"
            )
            raise BadInputError(message)
        journal = cls(path, facts)
        journal.add(Resumed(measured_from=measured_from))
        return journal

    def started(self, campaign: Campaign, measured_from: str) -> Self:
        """The journal with its first line; line and file name are on the disk when this returns."""
        self.add(Started(fingerprint=fingerprint(campaign), measured_from=measured_from))
        sync_directory(self._path.parent)
        return self

    def add(self, fact: Fact) -> None:
        """Append a fact; it is on the disk when this returns. Raises `MachineError`."""
        line = orjson.dumps(encode(_Line(fact=fact))) + b"\n"
        # First in memory: Ctrl-C may come when the line is on the disk, and the result that is then
        # written from memory must contain it.
        self.facts.append(fact)
        try:
            while line:  # a disk that is nearly full takes a part of it
                line = line[self._file.write(line) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            message = (
                f"{self._path} cannot be written ({error.strerror}); earlier measurements have "
                "been saved: free some space, then repeat the command with --resume"
            )
            raise MachineError(message) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def read(path: Path) -> list[Fact]:
    """The facts of a journal; an incomplete last line is cut off the file."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        message = f"nothing to resume: {path} does not exist; leave out --resume"
        raise BadInputError(message) from None
    whole = _whole_lines(data)
    if whole != data:
        with path.open("r+b") as file:
            file.truncate(len(whole))
    try:
        return [msgspec.json.decode(line, type=_Line).fact for line in whole.splitlines()]
    except msgspec.DecodeError as error:
        message = f"{path} is not a journal of this version ({error}); start over without --resume"
        raise BadInputError(message) from error


def _whole_lines(data: bytes) -> bytes:
    """The data without an incomplete last line.

    After a power cut a line can have its end but not its middle, where the disk holds zeros.
    """
    whole = data[: data.rfind(b"\n") + 1]
    before = whole[: whole.rfind(b"\n", 0, -1) + 1]
    try:
        orjson.loads(whole[len(before) :] or b"null")
    except orjson.JSONDecodeError:
        return before
    return whole


def path_of(campaign: Campaign) -> Path:
    """Where the journal of a campaign is, in the cache."""
    folder = directory() / "work"
    with usable():
        folder.mkdir(exist_ok=True)
    return folder / f"{fingerprint(campaign)[:16]}.jsonl"


def began(path: Path) -> str | None:
    """When a journal was started; `None` if it cannot be resumed."""
    try:
        facts = read(path)
    except BadInputError:
        return None
    return facts[0].measured_from if facts and isinstance(facts[0], Started) else None


def make_way(path: Path, *, say: Callable[[str], None]) -> None:
    """Rename an earlier journal that holds trials, and say so.

    A new run would replace it, and a forgotten --resume would cost hours.
    """
    try:
        with usable():
            trials = sum(isinstance(fact, TrialFact) for fact in read(path))
            if trials == 0:
                return
            aside = path.replace(path.with_suffix(".replaced.jsonl"))
            sync_directory(path.parent)
    except BadInputError:  # there is none, or one of another version, which cannot be resumed
        return
    say(
        f"An earlier run with these options stopped after {count(trials, 'trial')}; "
        f"--resume would continue it. This run starts over; the earlier one is now {aside}"
    )


def fingerprint(campaign: Campaign) -> str:
    """SHA-256 over everything that decides what is run, except paths.

    When to stop is left out: a campaign may be resumed with more time or a finer precision.
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
