"""A wrong file is refused with what is wrong, where, and what to do; another format is named."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli import app
from harness.errors import BadInputError
from harness.imports.importers import IMPORTERS
from harness.imports.source_files import MAX_BYTES, Given, given
from schemas.codec import canonical_bytes, encode
from tests.harness.imports.samples import (
    ALL,
    FACTS,
    GREEDY,
    MTP,
    SAMPLES,
    answer,
    bodies,
    file,
    files,
    one,
    run,
    served,
)


@pytest.mark.parametrize("form", IMPORTERS)
@pytest.mark.parametrize(("other", "name"), [(form, ALL[form].files[0]) for form in ALL])
def test_the_right_format_is_named_when_another_was_given(form: str, other: str, name: str) -> None:
    if form == other:
        return

    with pytest.raises(BadInputError) as caught:
        run(form, [given(SAMPLES / name)], {})

    message = str(caught.value)
    assert message.endswith(f"{name} looks like a {other} file: --from {other}")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (b"build_commit,build_number\nabc,1\n", "CSV, which lacks the repetitions"),
        (b"| model | size |\n| --- | --- |\n", "table, which lacks the repetitions"),
        (b'data: {"id": "chatcmpl-1"}\n\n', "a stream of chunks"),
        (b"ggml_cuda_init: found 1\n| model | size |\n", "table, which lacks the repetitions"),
        (b"CREATE TABLE IF NOT EXISTS test (\n", "SQL, which lacks the repetitions"),
        (b"main: n_kv_max = 8192\n\n|    PP |     TG |\n", "only without speculation"),
        (b'{"pp": 512, "tg": 128, "speed_tg": 106.0}\n', "only without speculation"),
        (b"============ Serving Benchmark Result ====\n", "--save-result --save-detailed"),
        (
            b"INFO SpecDecoding metrics: Mean\n",
            "a vLLM log, whose figures are sums over all requests",
        ),
        (b'{"avg_latency": 2.0, "latencies": [2.0]}', "whose times include the prompt"),
        (b'{"elapsed_time": 9.0, "num_requests": 2}', "throughput without the requests"),
        (b'{"eval_count": 101, "eval_duration": 1900}', "a llama-server file: --from"),
        (
            b"[ Prompt: 87.2 t/s | Generation: 22.9 t/s ]\n",
            "paste the text into the page 'Why is it",
        ),
        (
            canonical_bytes(encode(one("vllm"))),
            "a result of this project, which needs no import",
        ),
    ],
)
def test_unreadable_input_is_described(start: bytes, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        run("llama-bench", [Given(name="x", data=start)], {})


BROKEN = [b"", b"\x00\x01", b"[1]", b"{", b"null", b'{"runs": 3}', b'{"results": [{"id": 1}]}']


@pytest.mark.parametrize("form", IMPORTERS)
@pytest.mark.parametrize("data", [*BROKEN, b"[" * 5000])
def test_a_foreign_or_broken_file_gets_one_line_with_its_name(form: str, data: bytes) -> None:
    with pytest.raises(BadInputError) as caught:
        run(form, [Given(name="broken.json", data=data)], ALL[form].facts)

    assert "\n" not in str(caught.value)
    assert "broken.json" in str(caught.value) or "there is nothing to import" in str(caught.value)


def created(moment: int) -> list[Given]:
    row = json.loads((SAMPLES / "vllm-baseline.jsonl").read_text(encoding="utf-8").splitlines()[0])
    row["response"]["body"]["created"] = moment
    return [file("base", row)]


def other_prompts() -> list[Given]:
    off, on = files("llama-server")
    return [off, file("on.log", on.text.replace("   60 tokens (", "   61 tokens ("))]


def answered(ms: float | None, **more: float | None) -> list[Given]:
    off = answer("off.json", ms, **{"predicted_per_second": None} | more)
    return [off, answer("on.json", 1000.0)]


LISTS = dict.fromkeys(("input_lens", "output_lens", "ttfts", "itls", "errors"), "left out")
PACED = {"request_rate": 2.0, "max_concurrency": None}
OWN, NOT_SAME = ALL["vllm"].facts, "not have the same prompts in the same order"
REFUSED: list[tuple[str, list[Given], dict[str, str], str]] = [
    ("vllm", created(10**15), OWN, "expected a time in seconds since 1970"),
    ("vllm", created(10**12), OWN, "expected a time in seconds since 1970"),
    ("vllm", [given(SAMPLES / "vllm-spec.jsonl", "mtp")], OWN,
     "none of the files is the baseline; mark the baseline's file with baseline=FILE"),
    ("vllm", files("vllm")[1:] * 2, OWN, "the same records as vllm-spec"),
    ("vllm", files("vllm")[::-1], OWN, "48 tokens were drafted, but this file is the baseline"),
    ("vllm", [bodies("vllm-baseline.jsonl"), bodies("vllm-spec.jsonl", reverse=True)], OWN,
     NOT_SAME),
    ("llama-server", other_prompts(), GREEDY, NOT_SAME),
    ("vllm", files("vllm"), OWN | {"temperature": "hot"}, "--map temperature='hot': expected a n"),
    ("vllm", files("vllm"), OWN | {"temperature": "nan"}, "--map temperature='nan': expected a n"),
    ("vllm", files("vllm"), OWN | {"temperature": "inf"}, "--map temperature='inf': expected a n"),
    ("vllm", [served("b", [0.1], **PACED)], GREEDY, "concurrency=… (number of"),
    ("vllm", [served("b", [0.1], itls=None)], FACTS, "itls is missing, expected a list"),
    ("vllm", [served("b", [0.1], ttfts=[])], FACTS,
     "ttfts is a list (entries: 0), expected a list of 1, one entry per request"),
    ("vllm", [served("b", ["soon"])], FACTS,
     '$.itls[0][0] is "soon", expected a number of at least 0'),
    ("vllm", [served("b", [0.1], **LISTS)], FACTS, "run vllm bench serve with --save-detailed"),
    ("llama-server", answered(None), MTP,
     "requests of a server; a record without tokens or without a time (off.json: $)"),
    ("llama-server", answered(None, predicted_n=192, predicted_per_second=1e-308), MTP,
     "so there is nothing to compare; "),
    ("llama-server", answered(None, predicted_n=192, predicted_per_second=1e-11), MTP,
     "times add up to 2e+16 ms; at least one time is wrong"),
    ("llama-server", answered(2000.0, predicted_n=10**16), MTP,
     "off.json: $.timings.predicted_n is 10000000000000000, expected"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "own", "facts", "said"), REFUSED)
def test_a_wrong_value_is_named_with_its_place(
    form: str, own: list[Given], facts: dict[str, str], said: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        run(form, own, facts)

    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("form", "own", "facts", "keys"),
    [
        (
            "llama-server",
            [file(f"{ms}.json", {"timings": {"predicted_n": 101, "predicted_ms": ms}})
             for ms in (2000.0, 1000.0)],
            {},
            ("target", "quantisation", "backend", "gpu", "date", "sampling", "method"),
        ),
        (
            "vllm", files("vllm"), GREEDY | {"method": "draft-model"},
            ("draft", "draft_quantisation", "n_max"),
        ),
    ],
)  # fmt: skip
def test_all_missing_facts_are_named_at_once(
    form: str, own: list[Given], facts: dict[str, str], keys: tuple[str, ...]
) -> None:
    with pytest.raises(BadInputError) as caught:
        run(form, own, facts)

    assert [key for key in keys if f" {key}=…" not in str(caught.value)] == []
    assert "ram_mib" not in str(caught.value)


def call(path: Path) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["import", "--from", "vllm", str(path)])
    return done.exit_code, done.stderr.strip()


def test_an_empty_file_a_folder_and_a_huge_file_end_in_one_line_each(tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_bytes(b"\n\n")
    with (tmp_path / "huge.json").open("wb") as huge:
        huge.truncate(MAX_BYTES * 3)

    said = [call(tmp_path / "empty.json"), call(tmp_path), call(tmp_path / "huge.json")]

    assert said == [
        (2, f"Error: {tmp_path / 'empty.json'}: the file is empty; the tool wrote nothing into it"),
        (2, f"Error: {tmp_path} cannot be read: Is a directory; name a file in this folder"),
        (2, f"Error: {tmp_path / 'huge.json'}: larger than 64 MiB; give the raw records only"),
    ]
