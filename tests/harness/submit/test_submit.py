"""A result is submitted to the right place, and nothing else is."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from estimates.identity import canonical_name
from harness.cli import app
from harness.errors import BadInputError, MachineError, RefusedError
from harness.run.result_file import require_writable, write
from harness.submit import pull_request
from schemas import codec
from schemas.posted import from_text
from tests import clones
from tests.processes import needs_shell
from tests.samples import sample, sample_bytes

ROOT = Path(__file__).parents[3]


@pytest.fixture
def result(tmp_path: Path) -> Path:
    path = tmp_path / "result.json"
    path.write_bytes(sample_bytes(sample(contributor="ada")))
    return path


@pytest.fixture
def checkout(tmp_path: Path) -> pull_request.Clone:
    return pull_request.find_clone(clones.clone(tmp_path))


def submit(file: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["submit", str(file), *words])


def gh_that(script: str, folder: Path) -> Path:
    """Write a `gh` that runs a script, and return its folder."""
    (folder / "gh").write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    (folder / "gh").chmod(0o755)
    return folder


def test_a_result_has_one_place_under_its_canonical_name(tmp_path: Path) -> None:
    there = sample(contributor="ada")
    clone = pull_request.find_clone(clones.clone(tmp_path, there))

    old, new = (pull_request.place(each, clone) for each in (there, sample(seed=1)))

    assert old == f"results/community/{canonical_name(there, sample_bytes(there))}"
    assert new.startswith("results/community/nvidia-geforce-rtx-4060--sample-7b-q4-k-m--20261121-")
    assert (clone.results(), old != new) == ([old], True)


def test_a_contributor_is_added_and_never_exchanged() -> None:
    nobody = sample(contributor=None)

    assert pull_request.signed(nobody, "ada").contributor == "ada"
    assert pull_request.signed(nobody, None) == nobody
    with pytest.raises(BadInputError, match="the result names ada"):
        pull_request.signed(sample(contributor="ada"), "bob")


def test_an_accepted_result_is_not_sent_again(result: Path, tmp_path: Path) -> None:
    clone = clones.clone(tmp_path, sample(contributor="ada"))

    again = submit(result, "--repository", str(clone), "--yes")

    assert again.exit_code == 0, again.output
    assert again.stderr.startswith("Already accepted: results/community/")
    assert clones.sent(clone) == {}


def test_the_two_ways_to_send_keep_the_options(result: Path, tmp_path: Path) -> None:
    clone = clones.clone(tmp_path, sample(contributor="ada", seed=1))

    sent = submit(result, "--repository", str(clone))

    assert f"submit {result} --repository {clone} --yes" in sent.stderr
    assert f"submit {result} --repository {clone} --without-git" in sent.stderr


def test_a_result_goes_to_the_folder_of_its_month_once_the_main_one_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codec, "MOST_FLAT", 1)
    clone = pull_request.find_clone(clones.clone(tmp_path, sample()))

    second = pull_request.place(sample(seed=1), clone)

    assert second.startswith("results/community/2026/11/nvidia-geforce-rtx-4060--")
    assert pull_request.place(sample(), clone) == clone.results()[0]


def test_a_clone_is_found_from_inside_and_outside_the_option_is_named(
    checkout: pull_request.Clone, tmp_path: Path
) -> None:
    assert pull_request.find_clone(checkout.folder / "schemas") == checkout
    with pytest.raises(BadInputError, match="--repository"):
        pull_request.find_clone(tmp_path)


def test_without_git_the_form_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(MachineError, match=r"git is not installed; install it, or .*--without-git"):
        pull_request.find_clone(tmp_path)


def test_an_invalid_file_is_refused_with_its_findings() -> None:
    with pytest.raises(RefusedError, match=r"bad\.json: \$: the field .* is missing"):
        pull_request.accepted(b"{}", "bad.json")


@pytest.mark.parametrize("way", ["--yes", "--without-git"])
def test_private_text_is_neither_pushed_nor_printed_for_a_public_form(
    tmp_path: Path, way: str
) -> None:
    clone, file = clones.clone(tmp_path), tmp_path / "result.json"
    file.write_bytes(sample_bytes(replace(sample(), notes="runs on John's MacBook Pro")))

    done = submit(file, "--repository", str(clone), way)

    assert (done.exit_code, done.stdout, clones.sent(clone)) == (1, "", {})
    assert "$.notes: contains what looks like" in done.stderr


@needs_shell
def test_a_result_of_another_account_is_not_pushed(
    result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = clones.clone(tmp_path)
    monkeypatch.setenv("PATH", str(gh_that("echo bob", tmp_path)), prepend=":")

    done = submit(result, "--repository", str(clone), "--yes")

    assert (done.exit_code, clones.sent(clone)) == (1, {})
    assert "the result names ada, but the pull request is by bob" in done.stderr


@needs_shell
def test_with_git_alone_the_branch_is_pushed_and_the_rest_is_said(
    result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = clones.clone(tmp_path)
    monkeypatch.setenv("PATH", str(gh_that("exit 1", tmp_path)), prepend=":")

    asked = submit(result, "--repository", str(clone), "--json")
    before = clones.sent(clone)
    done = [submit(result, "--repository", str(clone), "--yes") for _ in range(2)]

    found = json.loads(asked.stdout)
    name = f"result/{Path(found['result']).stem}"
    assert [step.rpartition(" ")[2] for step in found["steps"]] == ["--yes", "--without-git"]
    assert (before, clones.sent(clone)) == ({}, {name: f"A\t{found['result']}"})
    for each in done:
        assert f"Now open the pull request on GitHub, for the branch {name}." in each.stderr


def test_a_second_contributor_leaves_nothing_of_the_first_in_the_clone(
    tmp_path: Path,
) -> None:
    clone, file = clones.clone(tmp_path), tmp_path / "result.json"
    file.write_bytes(sample_bytes(sample(contributor=None)))
    before = clones.state(clone)

    for more in ([], ["--contributor", "ada"]):
        assert submit(file, "--repository", str(clone), *more).exit_code == 0

    assert (clones.state(clone), clones.sent(clone)) == (before, {})


@needs_shell
def test_a_refused_push_changes_nothing_and_the_same_command_continues(
    result: Path, tmp_path: Path
) -> None:
    clone = clones.clone(tmp_path)
    before = clones.state(clone)
    hook = tmp_path / "origin.git" / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho you may not push >&2; exit 1\n", "utf-8")
    hook.chmod(0o755)

    refused = submit(result, "--repository", str(clone), "--yes")
    state, sent = clones.state(clone), clones.sent(clone)
    hook.unlink()
    again = submit(result, "--repository", str(clone), "--yes")

    assert (refused.exit_code, state, sent) == (3, before, {})
    assert "git push failed: remote: you may not push" in refused.stderr
    assert "the same command continues" in refused.stderr
    assert (again.exit_code, len(clones.sent(clone))) == (0, 1)


@needs_shell
@pytest.mark.parametrize(("script", "expected"), [("echo ada", "ada"), ("exit 1", None)])
def test_the_account_is_asked_of_the_program_that_opens_the_pull_request(
    checkout: pull_request.Clone,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    expected: str | None,
) -> None:
    monkeypatch.setenv("PATH", str(gh_that(script, tmp_path)))

    assert pull_request.login(checkout) == expected


@needs_shell
def test_output_of_gh_is_read_in_any_code_page(tmp_path: Path) -> None:
    gh_that("printf 'zo\\303\\253'", tmp_path)
    asked = "import sys, pathlib; from harness.submit import pull_request as submit; "
    asked += "clone = submit.Clone(folder=pathlib.Path(sys.argv[1]), base=''); "
    asked += "print(ascii(submit.login(clone)))"
    narrow = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": str(ROOT)}

    done = subprocess.run(
        [sys.executable, "-c", asked, str(tmp_path)],
        env={**narrow, "PATH": str(tmp_path)}, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert done.stdout == "'zo\\xeb'\n"


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
    text = pull_request.as_text(sample(contributor="ada"))

    assert from_text(f"### The result\r\n\r\n{text}\r\nthanks") == result.read_bytes()
