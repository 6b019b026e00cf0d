"""The files of other tools that the tests import, with the speedups that they must give."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from estimates.summary import summarize
from harness.imports.assemble import Imported, assemble
from harness.imports.importers import read
from harness.imports.source_files import Given, digest, given
from schemas.codec import encode
from schemas.submission import Origin, Submission

SAMPLES = Path(__file__).parents[2] / "captures" / "imports"
FACTS = {
    "target": "Sample-27B",
    "quantisation": "Q4_K_M",
    "backend": "cuda",
    "gpu": "NVIDIA GeForce RTX 3090",
    "date": "2026-05-17",
}

GREEDY = FACTS | {"sampling": "greedy"}
DRAFTED = GREEDY | {"method": "eagle3"}
MTP = GREEDY | {"method": "mtp:n_max=3"}


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
    "llama-bench": Sample(files=("llama-bench.json",), facts={}, speedups={}),
    "vllm": Sample(
        files=("vllm-baseline.jsonl", "vllm-spec.jsonl"),
        facts=FACTS | {"method": "eagle3", "sampling": "greedy"},
        speedups={(0, "vllm-spec", "code"): 8 / 3, (0, "vllm-spec", "chat"): None},
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


class Case(NamedTuple):
    """Files of a format, with the values of their results, and words of what is left out.

    A path begins with the position of a result.
    """

    form: str
    files: Sequence[Given]
    facts: Mapping[str, str]
    values: Mapping[str, Any]
    left_out: Sequence[str] = ()

    def check(self) -> None:
        done = run(self.form, self.files, self.facts)
        found = [encode(each) | {"summary": encode(summarize(each))} for each in done.submissions]

        assert {path: at(found, path) for path in self.values} == self.values
        for words in self.left_out:
            assert any(words in line for line in done.left_out), done.left_out


def at(value: Any, path: str) -> Any:  # noqa: ANN401 - JSON
    """The value at a dotted path.

    `*` is each entry of a list, `arm=ngram` each such entry, and `a,b` a list of two values.
    """
    step, _, rest = path.partition(".")
    if "," in step:
        return [at(value, each) for each in step.split(",")]
    key, is_filter, word = step.partition("=")
    if step == "*" or is_filter:
        own = [each for each in value if not is_filter or str(each.get(key)) == word]
        return [at(each, rest) for each in own] if rest else own
    found = value[int(step)] if isinstance(value, list) else value.get(step)
    return at(found, rest) if rest else found


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


def served(name: str, *itls: list[Any], **more: Any) -> Given:  # noqa: ANN401 - JSON
    """A file of `vllm bench serve --save-detailed`, with 11 tokens for each request."""
    count = len(itls)
    row = {
        "date": "20260517-093000", "model_id": "some/Sample-8B", "num_prompts": count,
        "request_rate": "inf", "max_concurrency": 1, "request_throughput": 1.0,
        "input_lens": [20 + number for number in range(count)], "output_lens": [11] * count,
        "ttfts": [0.05] * count, "itls": itls, "errors": [""] * count,
    }  # fmt: skip
    return file(name, {key: each for key, each in (row | more).items() if each != "left out"})


def answer(name: str, ms: float | None, **more: float | None) -> Given:
    """An answer of llama-server with `timings`."""
    timings = {"cache_n": 10, "prompt_n": 40, "prompt_ms": 100.0, "predicted_n": 101}
    rate = {"predicted_ms": ms, "predicted_per_second": 100 / ms * 1000 if ms else None}
    return file(
        name,
        {
            "choices": [{"finish_reason": "length", "message": {"content": "left out"}}],
            "usage": {"completion_tokens": 101},
            "system_fingerprint": "b10068-0123abcd",
            "timings": {**timings, **rate, **more},
        },
    )


def bodies(name: str, *, reverse: bool = False) -> Given:
    """A sample of vLLM as bare answers without ids."""
    rows = (SAMPLES / name).read_text(encoding="utf-8").splitlines()[:2]
    found = [json.loads(row)["response"]["body"] for row in rows]
    return file("x", *(found[::-1] if reverse else found))
