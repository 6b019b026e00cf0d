"""A wrong file is refused with what is wrong, where, and what to do."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli import app
from harness.errors import BadInputError
from harness.imports.source_files import MAX_BYTES, Given, given
from schemas.codec import canonical_bytes, encode
from tests.harness.imports.samples import GREEDY, MTP, SAMPLES, answer, file, logs, run, served

BROKEN = [b"", b"\x00\x01", b"[1]", b"{", b"null", b'{"runs": 3}', b'{"results": [{"id": 1}]}']


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            b"| llama 8B | 4 GiB | 8 B | CUDA | 99 | tg 128 | 22.90 \xc2\xb1 0.10 |\n",
            "Why is it slower",
        ),
        (b"TPOT\nMean TPOT (ms):   21.80\n", "--save-result --save-detailed"),
        (b'{"mean_tpot_ms": 21.8}', "--output-details"),
        (b"[ Prompt: 87.2 t/s | Generation: 22.9 t/s ]\n", "paste the text into the page 'Why is"),
        (b"nothing that a tool prints\n", "no line 'eval time ="),
    ],
)
def test_a_file_without_requests_is_described_with_what_can_be_done(data: bytes, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        run([Given(name="x", data=data)], {})


def test_a_result_of_this_project_needs_no_import() -> None:
    own = canonical_bytes(encode(run(logs(), GREEDY).submission))

    with pytest.raises(BadInputError, match="a result of this project, which needs no import"):
        run([Given(name="x", data=own)], {})


@pytest.mark.parametrize("data", [*BROKEN, b"[" * 5000])
def test_a_broken_file_gets_one_line_with_its_name(data: bytes) -> None:
    with pytest.raises(BadInputError) as caught:
        run([Given(name="broken.json", data=data)], GREEDY)

    assert "\n" not in str(caught.value)
    assert "broken.json" in str(caught.value)


def other_prompts() -> list[Given]:
    off, on = logs()
    return [off, file("on.log", on.text.replace("   60 tokens (", "   61 tokens ("))]


def answered(ms: float | None, **more: float | None) -> list[Given]:
    off = answer("off.json", ms, **{"predicted_per_second": None} | more)
    return [off, answer("on.json", 1000.0)]


REFUSED: list[tuple[list[Given], dict[str, str], str]] = [
    ([given(SAMPLES / "llama-server-on.log", "mtp")], GREEDY,
     "none of the files is the baseline; mark the baseline's file with baseline=FILE"),
    (logs()[1:] * 2, GREEDY, "the same records as llama-server-on"),
    (logs()[::-1], GREEDY, "100 tokens were drafted, but this file is the baseline"),
    (other_prompts(), GREEDY, "not have the same prompts in the same order"),
    (logs(), GREEDY | {"temperature": "hot"}, "--map temperature='hot': expected a n"),
    (logs(), GREEDY | {"temperature": "nan"}, "--map temperature='nan': expected a n"),
    (logs(), GREEDY | {"temperature": "inf"}, "--map temperature='inf': expected a n"),
    ([served("b", [0.1], output_lens=[11, 11])], GREEDY, "expected lists of the same length"),
    ([served("b", ["soon"])], GREEDY,  # type: ignore[list-item] - a wrong value
     '$.itls[0][0] is "soon", expected a number of at least 0'),
    (answered(None), MTP, "a record without tokens or without a time (off.json: $)"),
    (answered(None, predicted_n=192, predicted_per_second=1e-308), MTP,
     "so there is nothing to compare; "),
    (answered(None, predicted_n=192, predicted_per_second=1e-11), MTP,
     "times add up to 2e+16 ms; at least one time is wrong"),
    (answered(2000.0, predicted_n=10**16), MTP,
     "off.json: $.timings.predicted_n is 10000000000000000, expected"),
]  # fmt: skip


@pytest.mark.parametrize(("own", "facts", "said"), REFUSED)
def test_a_wrong_value_is_named_with_its_place(
    own: list[Given], facts: dict[str, str], said: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        run(own, facts)

    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("facts", "keys"),
    [
        ({}, ("target", "quantisation", "backend", "gpu", "date", "sampling", "method")),
        (GREEDY | {"method": "draft-model"}, ("draft", "draft_quantisation", "n_max")),
    ],
)
def test_all_missing_facts_are_named_at_once(facts: dict[str, str], keys: tuple[str, ...]) -> None:
    own = [
        file(f"{ms}.json", {"timings": {"predicted_n": 101, "predicted_ms": ms}})
        for ms in (2000.0, 1000.0)
    ]

    with pytest.raises(BadInputError) as caught:
        run(own, facts)

    assert [key for key in keys if f" {key}=…" not in str(caught.value)] == []
    assert "ram_mib" not in str(caught.value)


def call(path: Path) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["import", str(path)])
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
