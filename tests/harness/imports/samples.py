"""Logs and answers that the tests import, with the facts that they lack."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.imports.assemble import Imported, assemble
from harness.imports.measured_arms import read
from harness.imports.source_files import Given, digest, given
from schemas.submission import Origin

SAMPLES = Path(__file__).parents[2] / "captures" / "imports"
LOGS = ("llama-server-off.log", "llama-server-on.log")
GREEDY = {
    "target": "Sample-27B",
    "quantisation": "Q4_K_M",
    "backend": "cuda",
    "gpu": "NVIDIA GeForce RTX 3090",
    "date": "2026-05-17",
    "sampling": "greedy",
}
MTP = GREEDY | {"method": "mtp:n_max=3"}


def run(files: Sequence[Given], facts: Mapping[str, str]) -> Imported:
    measured = read(files)
    origin = Origin(format=measured.source, sha256=digest(files), source="A thread", licence="MIT")
    return assemble(measured, facts, origin)


def logs() -> list[Given]:
    """Two requests without and with speculation, 2 and 4 times as fast."""
    return [given(SAMPLES / name) for name in LOGS]


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


def file(name: str, *content: object) -> Given:
    """A file with a text, or with a JSON value in each line."""
    lines = [each if isinstance(each, str) else json.dumps(each) for each in content]
    return Given(name=name, data="\n".join(lines).encode())


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


def served(name: str, *itls: list[float], **more: Any) -> Given:  # noqa: ANN401 - JSON
    """A file of `vllm bench serve --save-detailed`, with 11 tokens for each request."""
    row = {
        "max_concurrency": 1, "request_throughput": 1.0, "mean_tpot_ms": 50.0,
        "input_lens": [20 + number for number in range(len(itls))],
        "output_lens": [11] * len(itls), "itls": itls,
    }  # fmt: skip
    return file(name, row | more)


def timed(ms: float, **drafts: int) -> dict[str, Any]:
    """An answer of vLLM with the metrics of its request, in a row of the batch runner."""
    metrics = {"generation_time_ms": ms} | ({"speculative_decoding": drafts} if drafts else {})
    usage = {"prompt_tokens": 21, "completion_tokens": 41}
    return {"custom_id": "q1", "response": {"body": {"usage": usage, "metrics": metrics}}}
