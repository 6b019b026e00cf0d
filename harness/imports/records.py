"""The values that importers read from another tool's files: generations, arms, facts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from harness.errors import BadInputError
from harness.imports.foreign_names import id_of
from harness.imports.needed_facts import ImportedFacts
from harness.imports.source_files import BASELINE, Given
from schemas.submission import Probes, Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One generation. `None` means unknown; a record with a `reason` failed.

    `output_tokens` counts tokens as the result format does: the first token, and those that
    `decode_ms` covers. `per_second` is the tool's rate, for records without a time; the fact
    `rate_counts` states which tokens the rate counts. `output_hash` is the tool's digest, which
    only shows whether the outputs of two records are equal.
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
    ttft_ms: float | None = None
    drafted: int | None = None
    accepted: int | None = None
    accepted_histogram: tuple[int, ...] | None = None
    drafted_histogram: tuple[int, ...] | None = None
    finish: Literal["length", "stop"] | None = None
    output_hash: str | None = None
    is_repeat: bool = False  # its prompt was cached and its answer was already written


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmRead:
    """One arm. `method` is written as for `--map method=`; `None` means unknown."""

    name: str
    method: str | None = None
    concurrency: int | None = None
    reason: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The contents of one result: one machine, one target, one baseline."""

    name: str
    suite: str
    arms: tuple[ArmRead, ...]
    records: tuple[Record, ...]
    facts: ImportedFacts
    tasks: Mapping[str, str] = field(default_factory=dict)
    needs_concurrency: bool = False
    probes: Probes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedFiles:
    """The parts, one per result, and a line for each kind of data that results cannot store."""

    parts: tuple[Part, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """The reader for a tool's files, the keys that identify them, and a help text.

    A file has this format if its first row has all keys of one of the `signs`.
    """

    read: Callable[[Sequence[Given]], ParsedFiles]
    help: str
    signs: tuple[frozenset[str], ...] = ()


def by_arm(files: Sequence[Given]) -> list[tuple[str, Given]]:
    """Return each file with its arm: from `ARM=FILE`, else named after the file.

    Unless a file is marked as the baseline, the first file is. Several files of the same arm are
    repetitions. Raises `BadInputError` if no file is the baseline.
    """
    has_baseline = any(file.arm == BASELINE for file in files)
    if files[0].arm and not has_baseline:
        raise BadInputError(
            f"{files[0].name}: none of the files is the baseline; mark the baseline's file "
            f"with {BASELINE}=FILE"
        )
    return [
        (file.arm or (BASELINE if number == 0 and not has_baseline else id_of(file.stem)), file)
        for number, file in enumerate(files)
    ]


def arms(
    records: Sequence[Record],
    names: Iterable[str],
    *,
    remedy: str = "",
    concurrency: Mapping[str, int | None] = {},
    methods: Mapping[str, str | None] = {},
) -> tuple[ArmRead, ...]:
    """Return these arms, the baseline first.

    Raises `BadInputError`, advising `remedy`, if prompts of the same name differ in length; also
    if the baseline drafted.
    """
    lengths = {r.prompt: r for r in records if r.arm == BASELINE and r.prompt_tokens}
    for record in records:
        base = lengths.get(record.prompt, record)
        if record.prompt_tokens and record.prompt_tokens != base.prompt_tokens:
            raise BadInputError(
                f"{record.place}: the prompt has {record.prompt_tokens} tokens, but the "
                f"baseline's {record.prompt} has {base.prompt_tokens}; the files do not have the "
                f"same prompts in the same order: {remedy}"
            )
    for record in records:
        if record.arm == BASELINE and record.drafted:
            raise BadInputError(
                f"{record.place}: {record.drafted} tokens were drafted, but this file is the "
                "baseline; give the baseline's file first, or name the arms: baseline=FILE "
                "mtp=FILE"
            )
    return tuple(
        ArmRead(
            name=name,
            method="none" if name == BASELINE else methods.get(name),
            concurrency=concurrency.get(name) or None,
        )
        for name in dict.fromkeys((BASELINE, *names))
    )
