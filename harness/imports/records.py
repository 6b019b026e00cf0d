"""The values that importers read from another tool's files: generations, arms, facts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from harness.imports.foreign_names import id_of
from harness.imports.needed_facts import ImportedFacts
from harness.imports.source_files import BASELINE, Given, wrong
from schemas.submission import Probes, Reason

SAME_PROMPTS = (
    "send each server the same prompts in the same order, without the prompt cache, and give "
    "only the lines of these requests"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One generation. `None` means unknown; a record with a `reason` failed.

    `output_tokens` counts tokens as the result format does: the first token, and those that
    `decode_ms` covers. `per_second` is the tool's rate, for records without a time; the fact
    `rate_counts` states which tokens the rate counts.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The contents of one result: one machine, one target, one baseline.

    `methods` has each arm's method, written as for `--map method=`; `None` means unknown, and the
    baseline may be left out. A concurrency that is `None` must be stated.
    """

    name: str
    suite: str
    facts: ImportedFacts
    records: tuple[Record, ...]
    methods: Mapping[str, str | None] = field(default_factory=dict)
    concurrency: Mapping[str, int | None] = field(default_factory=dict)
    probes: Probes | None = None

    def check(self) -> None:
        """Raise `BadInputError` if the baseline drafted, or prompts of a name differ in length."""
        base = {r.prompt: r for r in self.records if r.arm == BASELINE and r.prompt_tokens}
        for each in self.records:
            expected = base.get(each.prompt, each).prompt_tokens
            if each.prompt_tokens and each.prompt_tokens != expected:
                raise wrong(
                    each.place,
                    f"the prompt has {each.prompt_tokens} tokens, but the baseline's {each.prompt} "
                    f"has {expected}; the files do not have the same prompts in the same order",
                    f"{SAME_PROMPTS}, or give each of vLLM's rows a custom_id",
                )
            if each.arm == BASELINE and each.drafted:
                fault = f"{each.drafted} tokens were drafted, but this file is the baseline"
                remedy = "give the baseline's file first, or name the arms: baseline=FILE mtp=FILE"
                raise wrong(each.place, fault, remedy)


class ParsedFiles(NamedTuple):
    """The parts, one per result, and a line for each kind of data that results cannot store."""

    parts: Sequence[Part]
    left_out: Sequence[str] = ()


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
        remedy = f"mark the baseline's file with {BASELINE}=FILE"
        raise wrong(files[0].name, "none of the files is the baseline", remedy)
    return [
        (file.arm or (BASELINE if number == 0 and not has_baseline else id_of(file.stem)), file)
        for number, file in enumerate(files)
    ]
