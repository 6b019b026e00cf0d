"""Every method has a runner, and a dry run prints what the runner starts."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.campaign.method_parser import METHODS
from harness.cli import app
from schemas.vocabulary import RUNNERS
from tests.processes import needs_shell

HELP = """\
-m, --model FNAME                       model path
--port PORT                             port to listen on
-md, --model-draft FNAME                draft model
-ngld, --gpu-layers-draft N             layers of the draft
--spec-type none,draft-simple,ngram-simple
                                        types of speculation
--spec-ngram-simple-size-n N            size of the n-gram
--spec-ngram-simple-size-m N            size of the draft
--spec-draft-n-max N                    depth
--spec-draft-n-min N                    least depth
--spec-draft-p-min P                    least probability
"""


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_runner(name: str) -> None:
    assert any(name in kind.methods for kind in RUNNERS.values())


@pytest.fixture
def command(tmp_path: Path, models: list[str]) -> list[str]:
    """A dry run with a program that only prints a help text."""
    program = tmp_path / "llama-server"
    program.write_text(f"#!/bin/sh\ncat <<'TEXT'\n{HELP}TEXT\n", "utf-8")
    program.chmod(0o755)
    server = ("--runner", "llama-server", "--server-binary", str(program))
    return ["run", *server, "--dry-run", *models]


@needs_shell
def test_a_dry_run_prints_the_command_lines(command: list[str]) -> None:
    result = CliRunner().invoke(app, command)

    assert result.exit_code == 0, result.stderr
    lines = [line for line in result.stdout.splitlines() if "llama-server -m" in line]
    assert [line.partition("--spec-type ")[2] for line in lines] == [
        "none",
        "draft-simple --spec-draft-n-max 4 --spec-draft-n-min 0 --spec-draft-p-min 0",
        "ngram-simple --spec-ngram-simple-size-n 3 --spec-ngram-simple-size-m 8",
    ]
