"""docs/json.md names the keys that `--json` prints."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli import app
from tests import clones
from tests.harness.ggufs import write_gguf
from tests.samples import sample, sample_bytes

ROWS = {
    words.partition(" --json")[0].strip("`| "): {*re.findall(r"`([a-z_]+)`", keys)}
    for words, keys in re.findall(
        r"^\| (`[^|]+) \| (.+) \|$", Path("docs/json.md").read_text("utf-8"), re.MULTILINE
    )
}
SMALL = ("--tasks", "code", "--prompts", "1", "--max-tokens", "4", "--blocks", "1")
# Names in a row that are not top-level keys.
INSIDE = {"engines", "file", "path", "measured", "message", "rule", "name", "status", "show"}


@pytest.mark.usefixtures("fake_engine", "cache_dir")
@pytest.mark.parametrize("command", sorted(ROWS))
def test_a_command_prints_the_keys_that_are_documented(
    command: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if command == "acceptance":
        request.getfixturevalue("fake_reader")
    result, draft = tmp_path / "r.json", write_gguf(tmp_path / "d.gguf", name="Small 1B")
    target = write_gguf(tmp_path / "t.gguf", name="Big 7B")
    result.write_bytes(sample_bytes(sample()))
    if command == "submit":
        clones.clone(tmp_path)
    pair = [str(target), str(draft)]
    runner = ["-m", pair[0], "-md", pair[1], "--runner", "llama-cpp-python"]
    more = {
        "run": [*runner, *SMALL, "-o", str(tmp_path)],
        "run --dry-run": [*runner, *SMALL],
        "acceptance": [*pair, *SMALL[:-2]],
        "tune": [*runner, "--deepest", "2", "--max-tokens", "4", "-o", str(tmp_path)],
        "tune --dry-run": runner,
        "show": [str(result)],
        "validate": [str(result)],
        "plan": ["qwen3-8b", "--gpu", "RTX 4060 8 GB", "--ram", "32"],
        "probe": runner[:2] + runner[4:],
        "models get": [pair[0]],
        "submit": [str(result), "--repository", str(tmp_path / "clone")],
    }
    words = command.removeprefix("draftmap").split()

    done = CliRunner().invoke(app, [*words, *more.get(command, []), "--json"])

    found = json.loads(done.stdout)
    assert found.pop("json_version") == 1
    assert found.keys() <= ROWS[command]
    assert ROWS[command] - found.keys() <= INSIDE, command
