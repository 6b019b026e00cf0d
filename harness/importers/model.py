"""What do the files of another tool say? Records in our words, before anything is missing.

A fact that a file states has the same name as the `--map` option that would state it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from harness.errors import BadInputError
from harness.importers.source import Given
from harness.importers.translate import id_of
from schemas.submission import Reason

BASELINE = "baseline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One generation. `None` is unknown; a record with a `reason` failed.

    `output_tokens` counts as the format does: the first token, and those that `decode_ms` covers.
    `per_second` is the tool's rate, for records without a time; `rate_counts` says what it counts.
    `output_hash` is the tool's own: equal hashes of two records are equal outputs, no more.
    """

    arm: str
    prompt: str
    place: str
    category: str | None = None
    reason: Reason | None = None
    prompt_tokens: int | None = None
    prompt_ms: float | None = None
    output_tokens: int | None = None
    decode_ms: float | None = None
    per_second: float | None = None
    wall_ms: float | None = None
    ttft_ms: float | None = None
    rounds: int | None = None
    drafted: int | None = None
    accepted: int | None = None
    accepted_histogram: tuple[int, ...] | None = None
    drafted_histogram: tuple[int, ...] | None = None
    finish: Literal["length", "stop"] | None = None
    output_hash: str | None = None
    energy_j: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmRead:
    """One configuration. `method` is written as `--map method=` takes it; `None` is unknown."""

    name: str
    method: str | None = None
    concurrency: int | None = None
    reason: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What belongs into one result: one rig, one target, one baseline.

    `asks` are facts that the files should say and do not; a person must. `interleaved` says when
    arms took turns: after each prompt or after each pass; `None` if one ran after another.
    """

    name: str
    suite: str
    arms: tuple[ArmRead, ...]
    records: tuple[Record, ...]
    facts: Mapping[str, str]
    tasks: Mapping[str, str] = field(default_factory=dict)
    note: str | None = None
    asks: tuple[str, ...] = ()
    interleaved: Literal["prompt", "block"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """All that was read, and what these results cannot hold, a line each."""

    parts: tuple[Part, ...]
    left_out: tuple[str, ...] = ()


def named(files: Sequence[Given]) -> list[tuple[str, Given]]:
    """The arm of every file: as `ARM=FILE` says, else the first is the baseline.

    Further files are named after their file; files that name the same arm repeat it.
    """
    has_baseline = any(file.arm == BASELINE for file in files)
    if files[0].arm and not has_baseline:
        message = f"{files[0].name}: no file is the baseline; write {BASELINE}=FILE for one"
        raise BadInputError(message)
    return [
        (file.arm or (BASELINE if number == 0 and not has_baseline else id_of(file.stem)), file)
        for number, file in enumerate(files)
    ]


def arms(
    records: Iterable[Record],
    files: Sequence[tuple[str, Given]],
    concurrency: Mapping[str, int],
    methods: Mapping[str, str] | None = None,
) -> tuple[ArmRead, ...]:
    """The arms of the files, the baseline first. Raises `BadInputError` if the baseline drafted."""
    for record in records:
        if record.arm == BASELINE and record.drafted:
            message = (
                f"{record.place}: {record.drafted} tokens drafted, but this file is the baseline; "
                "give the baseline first, or name the arms: baseline=FILE mtp=FILE"
            )
            raise BadInputError(message)
    names = dict.fromkeys([BASELINE, *(arm for arm, _ in files)])
    return tuple(
        ArmRead(
            name=name,
            method="none" if name == BASELINE else (methods or {}).get(name),
            concurrency=concurrency.get(name),
        )
        for name in names
    )
