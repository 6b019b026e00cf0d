"""Every parser of foreign bytes ends in a value or in one line, soon, and in little memory."""

import json
import os
import signal
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import msgspec
import orjson
import pytest

from harness import files
from harness.errors import HarnessError
from harness.imports import measured_arms
from harness.imports.source_files import given
from harness.machine import nvidia
from harness.models import describe, gguf_header, gguf_shape
from harness.models.model_file import WeightsFile
from harness.openai import listed_models, streamed_answer
from harness.record import read as curves
from harness.record.kept import KeptCurve
from harness.run import journal
from harness.runners.http.client import ServerError, as_json
from harness.runners.http.counted_rounds import read_counters
from harness.runners.llama_server import completion, server_log
from pipeline.cache import Cache
from pipeline.collection.discover import Source
from pipeline.collection.plausibility.corpus import CorpusEntry
from pipeline.data.cached import entries_of, key_of, summary_of
from pipeline.errors import PipelineError
from pipeline.intake import figure_form, form
from pipeline.intake.reply import from_bytes
from schemas import contract
from schemas.posted import UnreadableTextError, to_text
from tests.harness.campaigns import campaign
from tests.harness.ggufs import write_gguf
from tests.mutants import mutants
from tests.nightly import few
from tests.pipeline.repositories import SMALL, name_of
from tests.samples import sample_bytes

CAPTURES = Path(__file__).parent / "captures"
MUTANTS, AT_ONCE = 500, 20  # of each parser
MOST_S, MOST_BYTES = 2.0, 200 << 20
MOMENT = "2026-11-21T09:00:00Z"
# What a command prints as one line.
LINES = (HarnessError, ServerError, PipelineError, UnreadableTextError)
ANSWER = {
    "content": "Red", "tokens": [1, 2, 3], "stop_type": "limit",
    "timings": {
        "prompt_ms": 10.5, "predicted_ms": 20.25, "predicted_n": 3, "prompt_n": 4, "draft_n": 2,
        "draft_n_accepted": 1,
        "draft_by_depth": [{"depth": 1, "draft_n": 2, "draft_n_accepted": 1}],
    },
    "completion_probabilities": [{"top_logprobs": [{"logprob": -0.5}, {"logprob": -1.5}]}],
}  # fmt: skip
LOG = b"""load_tensors: loading model tensors, this can take a while... (mmap = true)
load_tensors: offloaded 31/31 layers to GPU
load_tensors:   CPU_Mapped model buffer size =    97.89 MiB
llama_kv_cache:      CUDA0 KV buffer size =   180.00 MiB
"""
SAMPLES = iter(count())


def captured(*patterns: str) -> list[bytes]:
    return [path.read_bytes() for each in patterns for path in sorted(CAPTURES.glob(each))]


def journal_of(folder: Path) -> bytes:
    path = folder / "sample.jsonl"
    with journal.Journal.open(path, campaign(), measured_from=MOMENT) as opened:
        opened.add(journal.ArmFact(arm=SMALL.arms[0]))
        for trial in SMALL.trials[:3]:
            opened.add(journal.TrialFact(trial=trial, prompt=SMALL.suite.prompts[0], tokens=(1, 2)))
    return path.read_bytes()


def curve() -> bytes:
    kept = KeptCurve(
        measured_until=MOMENT, device="", model=SMALL.target, engine=SMALL.engine,
        settings=SMALL.settings, gpu_layers=0, context_tokens=64, widths=(1, 2, 4),
        step_ms=((10.0, 10.5), (11.0, 11.5), (12.0, 12.5)),
    )  # fmt: skip
    return msgspec.json.encode(kept)


def figure() -> bytes:
    given = {
        "url": "https://example.org/t/1", "who": "ada", "date": "2026-07", "method": "mtp",
        "card": "2x RTX 3060 12 GB", "model": "Qwen3.8-27B", "before": "10.0", "after": "8.9",
    }  # fmt: skip
    parts = (f"### {q}\n\n{given.get(name, '')}" for name, q in figure_form.QUESTIONS.items())
    return "\n\n".join(parts).encode()


def event(body: str) -> bytes:
    user = {"login": "ada", "id": 7}
    issue = {"number": 3, "user": user, "updated_at": MOMENT, "body": body, "labels": []}
    return json.dumps({"issue": issue}).encode()


def read_gguf(path: Path) -> None:
    for read in (
        lambda: describe.describe(WeightsFile(path=path), say=print),
        lambda: gguf_header.vocabulary_and_tokens(path),
        lambda: gguf_header.chat_template(path),
        lambda: gguf_shape.facts_of_file(path),
    ):
        with suppress(*LINES):
            read()


def imports(_: Path) -> list[bytes]:
    return captured("imports/*.log", "imports/*.json*", "imports/*.txt")


def replies(_: Path) -> list[bytes]:
    streams = captured("vllm/*/*.sse", "vllm/*/metrics*.txt", "vllm/none/models.json")
    return [json.dumps(ANSWER).encode(), *streams]


def read_server_log(path: Path) -> None:
    text = path.read_text("utf-8", "replace")
    server_log.resident_layers(text)
    server_log.in_use(text)


def read_gpu(path: Path) -> None:
    text = path.read_text("utf-8", "replace")
    for visible in (
        nvidia.Visible(),
        nvidia.Visible(variable="1,GPU-0"),
        nvidia.Visible(addresses=("0:1",), variable="0"),
    ):
        nvidia.parse_cards(nvidia.chosen_rows(text, visible), text)
    nvidia.parse_cards(text, text)
    nvidia.parse_state(text)


def read_answer(path: Path) -> None:
    text = path.read_text("utf-8", "replace")
    read_counters(text)
    ticks = iter(count())
    chunks = streamed_answer.events(path.read_bytes().splitlines())
    for read in (
        lambda: completion.read_completion(as_json(text, "/completion")),
        lambda: completion.margins_in(as_json(text, "/completion")),
        lambda: listed_models.read_models(as_json(text, "/models")),
        lambda: streamed_answer.server_times(
            streamed_answer.read(chunks, began_s=0.0, clock=lambda: float(next(ticks))),
            salted=False,
        ),
    ):
        with suppress(*LINES):
            read()


def read_form(path: Path) -> None:
    filled = form.read_event(path)
    with suppress(UnreadableTextError):
        contract.read(form.posted(filled.body or ""))
    figure_form.published(figure_form.answers_of(filled.body or ""), filled.updated_at[:10])


def read_figure(path: Path) -> None:
    text = path.read_text("utf-8", "replace")
    figure_form.published(figure_form.answers_of(text), "2026-11-21")


def read_build_cache(path: Path) -> None:
    """A build whose cache has this entry, sealed as its own, and a folder in place of another."""
    folder = path.parent / f"cache-{next(SAMPLES)}"
    kept = Cache(folder)
    result = path.with_name(name_of(SMALL))
    result.write_bytes(sample_bytes(SMALL))
    source = Source(path=result, kind="submission", place="preview")
    entries_of(kept, [source])
    files = sorted(kept.used)
    kept.put(key_of(source), path.read_bytes())
    assert entries_of(Cache(folder), [source])
    for each in files:
        each.unlink()
        each.mkdir()
    again = Cache(folder)
    (known,) = entries_of(again, [source]).values()
    assert isinstance(known, CorpusEntry)
    summary_of(Cache(folder), source, known)


def read_model_cache(path: Path) -> None:
    """A model whose facts and name are noted in the cache, in a damaged note."""
    model = path.with_name("m.gguf")
    if not model.is_file():
        write_gguf(model)
    with suppress(*LINES):
        describe.describe(WeightsFile(path=model), say=print)
    assert files.directory().parent == path.parent  # never the cache of this machine
    for note in files.directory().glob("*/*.json"):
        note.write_bytes(path.read_bytes())
    describe.describe(WeightsFile(path=model), say=print)


TARGETS: Mapping[str, tuple[Callable[[Path], object], Callable[[Path], list[bytes]]]] = {
    "GGUF": (
        read_gguf,
        lambda folder: [
            write_gguf(folder / "s.gguf", tokens=["a", "b"], template="{{ messages }}").read_bytes()
        ],
    ),
    "imports": (lambda path: measured_arms.read([given(path)]), imports),
    "a server's log": (read_server_log, lambda _: [LOG]),
    "journal": (journal.read, lambda folder: [journal_of(folder)]),
    "a build's cache": (read_build_cache, lambda _: [b"\x82\xa5entry\x80\xa7summary\xc4\x02{}"]),
    "a model's cache": (read_model_cache, lambda _: [orjson.dumps(SMALL.target), b'{"name":"x"}']),
    "forms": (read_form, lambda _: [event(to_text(sample_bytes(SMALL))), event(figure().decode())]),
    "figures": (read_figure, lambda _: [figure()]),
    "curves": (curves.read, lambda _: [curve(), *captured("imports/llama-bench.json")]),
    "nvidia-smi": (read_gpu, lambda _: captured("nvidia_*.txt")),
    "server replies": (read_answer, replies),
    "results": (lambda path: contract.read(path.read_bytes()), lambda _: [sample_bytes(SMALL)]),
    "verdicts": (lambda path: from_bytes(path.read_bytes()), lambda _: [b'{"version":1}']),
}  # fmt: skip


@contextmanager
def limited(what: str) -> Iterator[None]:
    """Fail after two seconds of processor time or with more than 200 MiB of memory."""

    def stop(*_: object) -> None:
        pytest.fail(f"{what} takes more than {MOST_S} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_S)
    tracemalloc.reset_peak()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    assert tracemalloc.get_traced_memory()[1] < MOST_BYTES, what


@pytest.mark.skipif(os.name == "nt", reason="measures processor time with a signal")
@pytest.mark.parametrize("seed", few(range(MUTANTS // AT_ONCE), 1))
@pytest.mark.parametrize("name", TARGETS)
def test_damaged_bytes_end_in_a_value_or_a_line(
    name: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(files.VARIABLE, str(tmp_path / "cache"))  # some targets damage the cache
    read, samples = TARGETS[name]
    listed = samples(tmp_path)
    path = tmp_path / "foreign"
    tracemalloc.start()
    try:
        for at in range(AT_ONCE):
            data = next(mutants(listed[at % len(listed)], 1, seed * AT_ONCE + at))
            path.write_bytes(data)
            with limited(f"{name}, seed {seed}, mutant {at}"), suppress(*LINES):
                read(path)
    finally:
        tracemalloc.stop()
