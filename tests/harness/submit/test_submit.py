"""A result is submitted to the right place, and nothing else is."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from estimates.identity import canonical_name
from harness.cli import app
from harness.errors import BadInputError, MachineError, RefusedError
from harness.run.result_file import require_writable, write
from harness.submit import pull_request
from schemas import codec
from schemas.posted import from_text
from tests.processes import needs_shell
from tests.samples import sample, sample_bytes

ROOT = Path(__file__).parents[3]


@pytest.fixture
def result(tmp_path: Path) -> Path:
    path = tmp_path / "result.json"
    path.write_bytes(sample_bytes(sample()))
    return path


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    (root / "schemas").mkdir(parents=True)
    (root / "schemas" / "submission.v2.schema.json").touch()
    return root


def test_a_result_is_placed_once_under_its_canonical_name(result: Path, checkout: Path) -> None:
    path = pull_request.write_result(pull_request.accepted(result), checkout)
    again = pull_request.write_result(pull_request.accepted(result), checkout)

    name = path.relative_to(checkout).as_posix()
    assert name.startswith("results/community/nvidia-geforce-rtx-4060--sample-7b-q4-k-m--20261121-")
    assert path.read_bytes() == result.read_bytes()
    assert again == path
    assert len(list(path.parent.iterdir())) == 1


def test_a_result_replaces_only_an_existing_one(checkout: Path) -> None:
    old = pull_request.write_result(sample(), checkout)

    new = pull_request.replacing(sample(seed=1), old.name, checkout)

    assert new == replace(sample(seed=1), supersedes=old.name)
    with pytest.raises(BadInputError, match=r"has no file gone\.json"):
        pull_request.replacing(sample(), "gone.json", checkout)


def test_a_correction_that_the_gate_would_refuse_is_refused_here(checkout: Path) -> None:
    anonymous = pull_request.write_result(sample(contributor=None), checkout)
    of_bob = pull_request.write_result(sample(contributor="bob"), checkout)

    with pytest.raises(BadInputError, match="is anonymous, so it cannot be replaced"):
        pull_request.replacing(sample(seed=1), anonymous.name, checkout)
    with pytest.raises(BadInputError, match="is by bob, and only bob can replace it"):
        pull_request.replacing(sample(seed=1, contributor="eve"), of_bob.name, checkout)


def test_a_contributor_is_added_and_never_exchanged() -> None:
    nobody = sample(contributor=None)

    assert pull_request.signed(nobody, "ada").contributor == "ada"
    assert pull_request.signed(nobody, None) == nobody
    with pytest.raises(BadInputError, match="the result names ada"):
        pull_request.signed(sample(contributor="ada"), "bob")


def test_an_accepted_result_is_not_sent_again_and_the_form_keeps_what_it_replaces(
    checkout: Path, tmp_path: Path
) -> None:
    result = tmp_path / "mine.json"
    result.write_bytes(sample_bytes(sample(contributor="ada")))
    old = pull_request.write_result(sample(contributor="ada", seed=1), checkout)
    pull_request.write_result(pull_request.accepted(result), checkout)
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "All"]):
        run_git(checkout, *words)
    words = ["submit", str(result), "--repository", str(checkout)]

    again = CliRunner().invoke(app, words)
    correction = CliRunner().invoke(app, [*words, "--supersedes", old.name])

    assert again.exit_code == correction.exit_code == 0, again.output
    assert re.search(r"Already accepted, since 20\d\d-\d\d-\d\d: results/community/", again.stderr)
    assert f"mine.json --supersedes {old.name} --without-git" in " ".join(correction.stderr.split())


def run_git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)  # noqa: S607


def test_a_result_goes_to_the_folder_of_its_month_once_the_main_one_is_full(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codec, "MOST_FLAT", 1)
    first = pull_request.write_result(sample(), checkout)

    second = pull_request.write_result(sample(seed=1), checkout)

    assert second.relative_to(first.parent).as_posix() == f"2026/11/{second.name}"
    assert [pull_request.write_result(sample(seed=seed), checkout) for seed in (0, 1)] == [
        first,
        second,
    ]
    assert pull_request.replacing(sample(), second.name, checkout).supersedes == second.name


def test_a_checkout_is_found_from_inside_and_outside_the_option_is_named(
    checkout: Path, tmp_path: Path
) -> None:
    inside = checkout / "results" / "community"
    inside.mkdir(parents=True)

    assert pull_request.find_checkout(inside) == checkout
    with pytest.raises(BadInputError, match="--repository"):
        pull_request.find_checkout(tmp_path)


def test_an_invalid_file_is_refused_with_its_findings(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(b"{}")

    with pytest.raises(RefusedError, match=r"bad\.json: \$: the field .* is missing"):
        pull_request.accepted(path)


NAME = "a--b--20261121-00112233"


def test_the_steps_commit_one_file_and_run_the_gate_before_they_push(checkout: Path) -> None:
    path = checkout / "results" / "community" / f"{NAME}.json"
    (checkout / "pipeline" / "intake").mkdir(parents=True)
    (checkout / "pipeline" / "intake" / "cli.py").touch()

    commands = pull_request.steps(path, checkout)

    assert commands[:3] == (
        ("git", "switch", "-c", f"result/{NAME}"),
        ("git", "add", f"results/community/{NAME}.json"),
        ("git", "commit", "-m", f"Result: {NAME}"),
    )
    assert [command[1] for command in commands[3:5]] == ["-m", "push"]
    assert commands[3][2:] == ("pipeline.intake", "gate", "--base", "@{-1}", "--head", "HEAD")
    named = pull_request.steps(path, checkout, "ada")
    assert named[3] == (*commands[3], "--author", "ada")
    assert named[5][-2:] == ("--head", f"ada:result/{NAME}")


def gh_that(script: str, folder: Path) -> Path:
    """Write a `gh` that runs a script, and return its folder."""
    (folder / "gh").write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    (folder / "gh").chmod(0o755)
    return folder


@needs_shell
@pytest.mark.parametrize(("script", "expected"), [("echo ada", "ada"), ("exit 1", None)])
def test_the_account_is_asked_of_the_program_that_opens_the_pull_request(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, script: str, expected: str | None
) -> None:
    monkeypatch.setenv("PATH", str(gh_that(script, checkout)))

    assert pull_request.login(checkout) == expected


@needs_shell
def test_output_of_gh_is_read_in_any_code_page(checkout: Path, tmp_path: Path) -> None:
    gh_that("printf 'zo\\303\\253'", tmp_path)
    asked = "import sys, pathlib; from harness.submit import pull_request as submit; "
    asked += "print(ascii(submit.login(pathlib.Path(sys.argv[1]))))"
    narrow = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": str(ROOT)}

    done = subprocess.run(
        [sys.executable, "-c", asked, str(checkout)],
        env={**narrow, "PATH": str(tmp_path)}, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert done.stdout == "'zo\\xeb'\n"


def test_a_result_with_findings_of_the_gate_is_not_pushed(checkout: Path) -> None:
    said = "print('x.json: $: wrong'); raise SystemExit(1)"
    commands = [(sys.executable, "-c", said), ("git", "push")]

    with pytest.raises(MachineError, match=r"x\.json: \$: wrong\n.*not run:\n(.|\n)*git push"):
        list(pull_request.open_pull_request(commands, checkout))


def test_a_step_that_fails_leaves_the_rest_as_commands(checkout: Path) -> None:
    run_git(checkout, "init", "--quiet")
    commands = [("git", "status"), ("git", "switch", "no-such-branch"), ("git", "push")]
    began = []

    with pytest.raises(MachineError, match=r"not run:\ngit switch no-such-branch\ngit push"):
        began.extend(pull_request.open_pull_request(commands, checkout))


def test_a_result_that_breaks_a_rule_is_not_written(tmp_path: Path) -> None:
    submission = sample()
    broken = replace(submission, trials=(replace(submission.trials[0], output_tokens=2),))

    with pytest.raises(Exception, match="violates the format"):
        write(broken, tmp_path / "out.json")

    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize("name", [".", "out", "my.results"])
def test_a_name_without_json_is_a_directory_and_the_file_gets_the_canonical_name(
    tmp_path: Path, name: str
) -> None:
    data = sample_bytes(sample())

    path = write(sample(), tmp_path / name)

    assert path == tmp_path / name / canonical_name(sample(), data)
    assert path.read_bytes() == data


def test_an_unwritable_output_is_reported_before_measuring(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(BadInputError, match="choose another --output"):
        require_writable(tmp_path / "file" / "folder" / "out.json")
    require_writable(tmp_path / "new" / "out.json")

    assert not (tmp_path / "new").exists()


def test_the_text_for_the_form_contains_the_exact_bytes(result: Path) -> None:
    text = pull_request.as_text(pull_request.accepted(result))

    assert from_text(f"### The result\r\n\r\n{text}\r\nthanks") == result.read_bytes()


@needs_shell
def test_the_address_of_the_pull_request_is_passed_on(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(gh_that("echo the-address", checkout)))

    assert list(pull_request.open_pull_request([("gh", "pr", "create")], checkout)) == [
        "gh pr create",
        "the-address",
    ]


def test_a_result_that_has_its_branch_was_submitted(checkout: Path) -> None:
    path = checkout / "results" / "community" / f"{NAME}.json"
    run_git(checkout, "init", "--quiet")
    run_git(checkout, "commit", "--allow-empty", "-m", "first")
    before = pull_request.was_submitted(path, checkout)
    run_git(checkout, "branch", pull_request.branch(path))

    assert not before
    assert pull_request.was_submitted(path, checkout)
