"""The command line prints results to stdout and errors once, and exits as documented."""

import json
import re
import signal
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from harness import console
from harness.cli import app, in_full
from harness.errors import EXIT_CODES, BadInputError
from harness.features import COMMANDS, guide
from schemas.contract import read
from schemas.submission import Submission

SMALL = (
    *("--runner", "llama-cpp-python", "--tasks", "code,math", "--quick"),
    *("--max-tokens", "4", "--blocks", "1"),
)
pytestmark = pytest.mark.usefixtures("binding", "fake_engine")


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_a_run_writes_a_valid_file_and_prints_the_report(tmp_path: Path, models: list[str]) -> None:
    output = tmp_path / "out.json"

    result = call("run", *models, *SMALL, "--output", str(output), "--contributor", "ada")

    assert result.exit_code == 0, result.stderr
    submission = read(output.read_bytes())
    assert isinstance(submission, Submission)
    assert submission.contributor == "ada"
    assert submission.profile == "custom"
    assert len(submission.trials) == 3 * 2 * 3
    assert submission.environment is not None
    assert [state.moment for state in submission.environment] == ["before", "after"]
    assert "All figures: python -m harness show " in result.stdout
    assert f"Result: {output}" in result.stderr


def test_a_finished_run_leaves_no_work_file(
    tmp_path: Path, cache_dir: Path, models: list[str]
) -> None:
    call("run", *models, *SMALL, "--output", str(tmp_path))

    assert list((cache_dir / "work").iterdir()) == []


def test_json_on_stdout_is_the_summary_and_nothing_else(tmp_path: Path, models: list[str]) -> None:
    result = call("run", *models, *SMALL, "--output", str(tmp_path), "--json")

    assert result.exit_code == 0, result.stderr
    assert set(json.loads(result.stdout)) == {
        "json_version",
        "result",
        "estimator",
        "estimates",
        "prompts",
        "flags",
        "repeatability",
        "controls",
        "throughput",
    }


def test_a_dry_run_prints_the_plan_and_its_duration(models: list[str]) -> None:
    result = call("run", *models, "--quick", "--dry-run")

    assert result.exit_code == 0, result.stderr
    assert "1 block x 24 prompts x 3 arms = 72" in result.stdout
    assert re.search(r"expected +about \d+ (s|min)", result.stdout)


def test_a_dry_run_says_what_is_repeated(models: list[str]) -> None:
    result = call("run", *models, "--dry-run")

    shown = " ".join(result.stdout.split())
    assert "2 blocks x 64 prompts x 3 arms = 384" in shown
    assert "if an arm's two times for a prompt then differ by more than 15 %, all arms" in shown


def test_controls_are_measured_with_the_rest_and_reported_with_expected_values(
    tmp_path: Path, models: list[str]
) -> None:
    result = call("run", *models, *SMALL, "--control", "--output", str(tmp_path), "--json")
    report = call("show", str(next(tmp_path.glob("*.json"))), "--details")

    found = {each["kind"]: each for each in json.loads(result.stdout)["controls"]}
    assert set(found) == {"baseline-again", "empty-draft"}
    assert found["baseline-again"]["ratio"] == pytest.approx(1.0, abs=0.05)
    assert "Controls (their results are known in advance):" in report.stdout
    assert "  baseline-again " in report.stdout


def test_forced_acceptance_is_reported_as_a_cost_and_never_as_a_speedup(
    tmp_path: Path, models: list[str]
) -> None:
    output = tmp_path / "out.json"
    forced = ("--method", "forced:length=2,n_max=4", "--output", str(output))

    result = call("run", *models, *SMALL[:-4], "--max-tokens", "21", *SMALL[-2:], *forced, "--json")

    assert result.exit_code == 0, result.stderr
    code, *_ = json.loads(result.stdout)["estimates"]
    # A round over five tokens takes 20 + 4 x 2 + 4 x 2 ms, a plain token 20; the last is shorter.
    assert code["round_cost"] == pytest.approx(1.8, abs=0.1)
    assert code["tokens_per_round"] == pytest.approx(2.0)
    assert "speedup" not in code
    assert (
        "acceptance set to 2 tokens per round, 4 drafted"
        in call("show", str(output), "--details").stdout
    )


def test_a_dry_run_in_json_lists_every_trial(models: list[str]) -> None:
    result = call("run", *models, "--quick", "--dry-run", "--json")

    document = json.loads(result.stdout)
    assert len(document["trials"]) == 72
    assert document["expected_s"] > 0
    assert "estimate" in document["expected_from"]
    assert models[1] not in result.stdout  # the path of the weights is private


def test_a_dry_run_fetches_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))

    preset = call("run", "--target", "qwen3-8b", "--dry-run", "--json")
    unknown = call("run", "--target", "Owner/Model-GGUF:Q4_K_M", "--dry-run")

    assert preset.exit_code == 0, preset.stderr
    document = json.loads(preset.stdout)
    assert document["target"]["repository"] == "Qwen/Qwen3-8B-GGUF"
    assert document["drafts"][0]["id"] == "qwen3-0-6b-q8-0"
    assert unknown.exit_code == 2
    assert "--dry-run fetches nothing" in unknown.stderr


def test_exit_codes_of_commands_are_documented() -> None:
    words = " ".join(call("--help").stdout.split())

    assert "Exit codes: 0 done. 1 the check failed" in words
    assert all(f" {code} {text}." in words for code, text in EXIT_CODES.items())


def test_a_first_word_that_names_a_model_measures_it(tmp_path: Path) -> None:
    file = tmp_path / "my model.gguf"
    file.write_bytes(b"GGUF")

    for model in ("qwen3-8b", "Qwen3 8B", "owner/repo:Q8_0", str(file)):
        assert in_full([model, "--quick"]) == ["run", model, "--quick"]
    assert in_full(["plan", "qwen3-8b"]) == ["plan", "qwen3-8b"]
    for word, said in (
        ("measure", "--help` lists commands, `"),  # 'compare' is not meant
        ("a" * 5000, "is neither a command nor a model"),
    ):
        with pytest.raises(BadInputError, match=said):
            in_full([word])


def test_the_manual_has_the_exit_codes_of_the_program() -> None:
    rows = re.findall(
        r"^\| (\d+) \|",
        (Path(__file__).parents[2] / "docs/measuring.md").read_text("utf-8"),
        re.MULTILINE,
    )

    assert [int(code) for code in rows] == [*EXIT_CODES]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_names_a_guide_that_is_there(name: str) -> None:
    assert (Path(__file__).parents[2] / guide(name)).is_file()


def test_ctrl_c_is_answered_at_once_in_one_line_and_only_while_something_is_measured(
    capfd: pytest.CaptureFixture[str],
) -> None:
    before = signal.getsignal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), console.interruptible():
        signal.raise_signal(signal.SIGINT)

    assert signal.getsignal(signal.SIGINT) == before
    assert capfd.readouterr().err == (
        "\nInterrupted: ending the engine, keeping what was measured.\n"
    )
