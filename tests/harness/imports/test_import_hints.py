"""A file that is not of the given format is recognised, and the error says what it is."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli import app
from harness.errors import BadInputError
from harness.imports.importers import IMPORTERS
from harness.imports.source_files import MAX_BYTES, Given, given
from schemas.codec import canonical_bytes, encode
from tests.harness.imports.samples import ALL, SAMPLES, one, run


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
    ],
)
def test_unreadable_input_is_described(start: bytes, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        run("llama-bench", [Given(name="x", data=start)], {})


def test_a_result_of_this_project_needs_no_import() -> None:
    file = Given(name="own.json", data=canonical_bytes(encode(one("vllm"))))

    with pytest.raises(BadInputError, match="a result of this project, which needs no import"):
        run("inventivehq", [file], {})


def test_the_same_records_twice_are_refused() -> None:
    file = given(SAMPLES / "vllm-spec.jsonl")

    with pytest.raises(BadInputError, match="the same records as vllm-spec"):
        run("vllm", [file, file], ALL["vllm"].facts)


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
