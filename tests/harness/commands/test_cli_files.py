"""The commands about files, models and the machine print their answers."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE

import pytest
from typer.testing import CliRunner, Result

from estimates.summary import summarize
from harness.cli import app
from tests.harness.ggufs import write_gguf
from tests.samples import sample, sample_bytes


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def good(tmp_path: Path) -> str:
    path = tmp_path / "good.json"
    path.write_bytes(sample_bytes(sample()))
    return str(path)


def test_validate_is_silent_on_stdout_for_a_valid_file(good: str) -> None:
    result = call("validate", good)

    assert (result.exit_code, result.stdout) == (0, "")


def test_validate_prints_every_flag_of_a_valid_file(tmp_path: Path) -> None:
    path = tmp_path / "one-block.json"
    quick = replace(sample(blocks=1), profile="quick")
    path.write_bytes(sample_bytes(quick))

    flags = summarize(quick).flags
    result = call("validate", str(path))

    assert {flag.severity for flag in flags} == {"caution", "note"}
    assert result.exit_code == 0
    for flag in flags:
        assert f"{path}: {flag.severity}: {flag.name}: {flag.message}" in result.stderr


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("eval time = 2000.00 ms / 101 tokens (19.80 ms per token, 50.50 tokens per second)\n",
         "`python -m harness import` in a checkout makes a result of it"),
        (("| model | size | params | backend | ngl | test | t/s |\n"
         "| llama 8B Q4_0 | 4.33 GiB | 8.03 B | CUDA | 99 | tg128 | 40.10 ± 0.10 |\n"),
         "the page 'Why is it slower?' reads it"),
        ("a recipe for soup\n", None),
    ],
)  # fmt: skip
def test_validate_says_what_reads_a_file_of_another_tool(
    tmp_path: Path, text: str, reads: str | None
) -> None:
    path = tmp_path / "server.log"
    path.write_text(text)

    result = call("validate", str(path))

    assert result.exit_code == 1
    assert (f"{path}: it looks like " in result.stderr) is (reads is not None)
    assert (reads or "") in result.stderr


def test_validate_prints_one_line_per_finding(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(sample_bytes(sample()).replace(b'"block":0', b'"block":-1', 1))

    result = call("validate", str(path))
    for_machines = call("validate", str(path), "--json")

    assert result.exit_code == 1
    assert result.stdout.startswith(f"{path}: $.trials[0].block: -1 is too small")
    assert json.loads(for_machines.stdout)["findings"][0]["path"] == "$.trials[0].block"


def test_show_prints_the_report_of_a_file(good: str) -> None:
    brief = call("show", good)
    result = call("show", good, "--details")
    for_machines = call("show", good, "--json")

    assert brief.exit_code == result.exit_code == 0
    assert result.stdout.startswith(brief.stdout)
    assert len(brief.stdout.splitlines()) <= 24
    assert "target   Sample-7B Q4_K_M, 7.0 B parameters" in result.stdout
    assert "\x1b" not in result.stdout
    assert len(json.loads(for_machines.stdout)["estimates"]) == 2 * 9


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no /dev/zero")
@pytest.mark.parametrize(("command", "code"), [("show", 2), ("submit", 1), ("validate", 1)])
def test_a_file_without_an_end_is_too_large_and_read_no_further(command: str, code: int) -> None:
    result = call(command, "/dev/zero")

    assert result.exit_code == code
    assert "more than 524288 bytes" in result.output


@pytest.mark.skipif(sys.platform == "win32", reason="no shell that closes the output")
def test_a_program_without_standard_output_is_silent(good: str) -> None:
    command = f'"{sys.executable}" -m harness show "{good}" >&-'

    done = subprocess.run(["/bin/sh", "-c", command], stderr=PIPE, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk always full")
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_report_that_cannot_be_written_is_one_line(good: str, options: list[str]) -> None:
    command = [sys.executable, "-m", "harness", "show", good, *options]

    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(command, stdout=full, stderr=PIPE, text=True, check=False)

    assert done.returncode == 3
    assert done.stderr == (
        "Error: cannot write the output: No space left on device; free some disk space\n"
    )


@pytest.mark.engine
@pytest.mark.usefixtures("cache_dir")
def test_doctor_reports_every_check_and_fails_for_a_model_that_does_not_load(
    tmp_path: Path,
) -> None:
    model = write_gguf(tmp_path / "m.gguf")

    result = call("doctor", str(model), "--json")

    checks = {check["name"]: check["status"] for check in json.loads(result.stdout)["checks"]}
    assert result.exit_code == 3
    assert checks["Decode"] == "fail"
    assert checks["Engine"] == checks["Time"] == "ok"
    assert len(checks) == 10


def test_validate_judges_the_other_files_when_one_cannot_be_read(tmp_path: Path) -> None:
    missing, broken = tmp_path / "missing.json", tmp_path / "broken.json"
    broken.write_bytes(b"[]")

    result = call("validate", str(missing), str(broken), "--json")

    assert result.exit_code == 2
    assert [(entry["file"], entry["rule"]) for entry in json.loads(result.stdout)["findings"]] == [
        (str(missing), "readable"),
        (str(broken), "schema-type"),
    ]


@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "ascii"])
def test_a_console_gets_plain_characters_for_missing_ones(good: str, encoding: str) -> None:
    command = [sys.executable, "-m", "harness", "show", good, "--details"]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}

    done = subprocess.run(command, env=environment, capture_output=True, check=False)

    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode(encoding)
    assert ("#####" in text) == (encoding != "cp437")  # which has blocks
    assert "?" not in text.replace("?:", "")
