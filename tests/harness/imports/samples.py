"""The files of other tools that the tests import, with the speedups that they must give."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.imports.assemble import Imported, assemble
from harness.imports.importers import read
from harness.imports.source_files import Given, digest, given
from schemas.submission import Origin, Submission

SAMPLES = Path(__file__).parents[2] / "captures" / "imports"
FACTS = {
    "target": "Sample-27B",
    "quantisation": "Q4_K_M",
    "backend": "cuda",
    "gpu": "NVIDIA GeForce RTX 3090",
    "date": "2026-05-17",
}


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Files of one format, the facts that they need, and the expected result.

    `speedups` are the time ratios of the paired prompts, by part, arm and task.
    """

    files: tuple[str, ...]
    facts: Mapping[str, str]
    speedups: Mapping[tuple[int, str, str], float | None]


# Two prompts with equal times, sped up 2 and 4 times: (1 + 1) / (1/2 + 1/4) is 8/3.
ALL = {
    "inventivehq": Sample(
        files=("inventivehq.json",),
        facts={"date": "2026-06-01"},
        speedups={
            # 2000/1000 and 2000/500; the third prompt timed out.
            (0, "draft_0_5b", "code"): 8 / 3,
            (0, "draft_0_5b", "chat"): None,
            # 2000/2000 and 2000/1000.
            (0, "ngram", "code"): 4 / 3,
            (0, "ngram", "chat"): 0.8,
            (1, "draft_0_5b", "code"): None,
            (2, "ngram", "code"): 1.25,
        },
    ),
    "llama-bench": Sample(files=("llama-bench.json",), facts={}, speedups={}),
    "vllm": Sample(
        files=("vllm-baseline.jsonl", "vllm-spec.jsonl"),
        facts=FACTS | {"method": "eagle3", "sampling": "greedy"},
        speedups={(0, "vllm-spec", "code"): 8 / 3, (0, "vllm-spec", "chat"): None},
    ),
    "llama-spec-bench": Sample(
        files=("llama-spec-bench-base.txt", "llama-spec-bench-mtp.txt"),
        facts=FACTS | {"sampling": "greedy"},
        speedups={
            (0, "llama-spec-bench-mtp", "code"): 8 / 3,
            # The second run failed; the first takes 5 seconds for 4.
            (0, "llama-spec-bench-mtp", "creative"): 0.8,
        },
    ),
    "llama-server": Sample(
        files=("llama-server-off.log", "llama-server-on.log"),
        facts=FACTS | {"sampling": "greedy"},
        # Ratios of 2 and 4 on the first and on the second request.
        speedups={(0, "llama-server-on", "other"): 8 / 3},
    ),
}


def run(form: str, files: Sequence[Given], facts: Mapping[str, str]) -> Imported:
    origin = Origin(format=form, sha256=digest(files), source="A thread", licence="MIT")
    return assemble(read(form, files), facts, origin)


def imported(form: str) -> Imported:
    return run(form, files(form), ALL[form].facts)


def one(form: str) -> Submission:
    (only,) = imported(form).submissions
    return only


def changed(name: str, change: Any) -> Given:  # noqa: ANN401 - a function that edits JSON
    """A sample after a change of its JSON, under the same name."""
    value = json.loads((SAMPLES / name).read_bytes().removeprefix(b"\xef\xbb\xbf"))
    change(value)
    return file(name, value)


def file(name: str, *content: object) -> Given:
    """A file with a text, or with a JSON value in each line."""
    lines = [each if isinstance(each, str) else json.dumps(each) for each in content]
    return Given(name=name, data="\n".join(lines).encode())


def files(form: str) -> list[Given]:
    return [given(SAMPLES / name) for name in ALL[form].files]
