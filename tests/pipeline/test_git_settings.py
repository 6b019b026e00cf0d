"""No setting of a user, a machine, a clone or a pull request changes what the gate decides."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from pipeline.intake import gate, git
from tests.nightly import few
from tests.pipeline.repositories import ENVIRONMENT, FOLDER, OTHER, SMALL, Repository, name_of
from tests.samples import sample, sample_bytes

LONG = sample(seed=1, contributor="bob", blocks=3)


@dataclass(frozen=True, kw_only=True)
class GitSetting:
    """A setting of the clone, of the user, in the attributes, or in the environment."""

    clone: tuple[str, ...] = ()
    user: str = ""
    attributes: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)


CLONE = {
    "colours": ("color.ui=always", "color.diff=always", "color.diff.meta=red"),
    "grep": ("grep.lineNumber=true", "grep.column=true", "grep.patternType=fixed"),
    "a hidden submodule": ("diff.ignoreSubmodules=all",),
    "renames": ("diff.renames=copies", "diff.renameLimit=9999"),
    "relative paths": ("diff.relative=true",),
    "prefixes": ("diff.noprefix=true", "diff.mnemonicPrefix=true", "diff.srcPrefix=x/"),
    "an external diff": ("diff.external=false", "diff.json.textconv=false"),
    "filters": ("filter.x.clean=false", "filter.x.smudge=false", "filter.x.required=true"),
    "an order of files": ("diff.orderFile=/dev/null",),
    "short ids": ("core.abbrev=4", "log.abbrevCommit=true"),
    "quoted paths": ("core.quotePath=false", "core.precomposeUnicode=true"),
    "case": ("core.ignoreCase=true", "core.symlinks=false", "core.fileMode=false"),
    "line ends": ("core.autocrlf=true", "core.eol=crlf", "core.safecrlf=true"),
    "hooks and watchers": ("core.hooksPath=/tmp", "core.fsmonitor=false"),
    "pagers and aliases": ("core.pager=false", "pager.diff-tree=true", "alias.ls-tree=!false"),
    "a work tree at the root": ("core.worktree=/", "core.bare=true"),
    "programs to run": ("core.sshCommand=false", "uploadpack.packObjectsHook=false"),
    "a remote that runs a program": (
        "remote.origin.promisor=true",
        "remote.origin.url=ext::sh -c false",
        "protocol.ext.allow=always",
    ),
    "a broken value": ("diff.renames=nonsense",),
    "a file that is not a configuration": ("include.path=/dev/zero/none",),
}
SETTINGS: dict[str, GitSetting] = {
    **{name: GitSetting(clone=values) for name, values in CLONE.items()},
    "a user's colours": GitSetting(user="[color]\n\tui = always\n[grep]\n\tlineNumber = true\n"),
    "a user's broken file": GitSetting(user="[color\nui = \x01"),
    "all files binary": GitSetting(attributes="* binary\n"),
    "all files filtered": GitSetting(attributes="* filter=x diff=json text eol=crlf ident\n"),
    "another encoding": GitSetting(attributes="* working-tree-encoding=UTF-16\n"),
    "a directory of git elsewhere": GitSetting(variables={"GIT_DIR": "/nowhere"}),
    "a work tree elsewhere": GitSetting(variables={"GIT_WORK_TREE": "/", "GIT_PREFIX": "x/"}),
    "objects elsewhere": GitSetting(variables={"GIT_OBJECT_DIRECTORY": "/nowhere"}),
    "settings in variables": GitSetting(
        variables={
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "diff.ignoreSubmodules",
            "GIT_CONFIG_VALUE_0": "all",
        }
    ),
    "an external diff in a variable": GitSetting(variables={"GIT_EXTERNAL_DIFF": "false"}),
    "globs": GitSetting(variables={"GIT_ICASE_PATHSPECS": "1", "GIT_LITERAL_PATHSPECS": "1"}),
    "traces": GitSetting(variables={"GIT_TRACE": "1", "GIT_TRACE2": "1", "GIT_TRACE_SETUP": "1"}),
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Four pull requests: a good one, a submodule, a copy of other times, a changed result."""
    made = Repository(tmp_path_factory.mktemp("settings"))
    made.git("checkout", "--quiet", "main")
    made.add(LONG)
    for branch in ("good", "module", "fork", "edit"):
        made.git("checkout", "--quiet", "-b", branch, "main")
        if branch == "good":
            new = sample(tasks=("chat",), prompts_per_task=1, blocks=1, seed=9)
            made.write(sample_bytes(new), name_of(new))
        elif branch == "fork":
            again = replace(LONG, contributor="eve")
            made.write(sample_bytes(again), name_of(again))
        elif branch == "edit":
            made.there.write_bytes(sample_bytes(SMALL))
        made.git("add", "--all")
        if branch == "module":
            entry = f"160000,{'1' * 40},{FOLDER}/module.json"
            made.git("update-index", "--add", "--cacheinfo", entry)
        made.git("commit", "--quiet", "--message", branch)
    return made


EXPECTED = {
    "good": set(),
    "module": {"path-mode"},
    "fork": {"copied-times"},
    "edit": {"path-not-added"},
}


def decided(path: Path) -> dict[str, set[str]]:
    return {
        branch: {each.rule for each in gate.judge(path, base="main", head=branch).findings}
        for branch in EXPECTED
    }


@pytest.mark.parametrize("name", few(SETTINGS, 9))
def test_the_decision_stays_the_same(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    setting, clone = SETTINGS[name], tmp_path / "clone"
    run("clone", "--quiet", "--mirror", str(repository.path), str(clone))
    for entry in setting.clone:
        run("-C", str(clone), "config", *entry.split("=", 1))
    (clone / "info").mkdir(exist_ok=True)
    (clone / "info" / "attributes").write_text(setting.attributes)
    (tmp_path / ".gitconfig").write_text(setting.user)
    monkeypatch.setenv("HOME", str(tmp_path))
    for key, value in setting.variables.items():
        monkeypatch.setenv(key, value)

    assert decided(clone) == EXPECTED


def run(*arguments: str) -> None:
    command = ["git", *arguments]
    subprocess.run(command, check=True, env=ENVIRONMENT, capture_output=True)


def test_a_clone_that_git_cannot_read_gets_no_decision(
    repository: Repository, tmp_path: Path
) -> None:
    run("clone", "--quiet", "--mirror", str(repository.path), str(tmp_path / "clone"))
    (tmp_path / "clone" / "config").write_text("[core\nbare = \x01")

    with pytest.raises(git.GitError, match="bad config") as refused:
        decided(tmp_path / "clone")

    assert refused.value.exit_code == 3


def test_an_object_that_is_replaced_in_the_clone_is_judged_as_it_was_sent(
    repository: Repository,
) -> None:
    broken = repository.git("rev-parse", "edit")
    repository.git("replace", broken, "good")

    try:
        assert decided(repository.path) == EXPECTED
    finally:
        repository.git("replace", "--delete", broken)


def test_attributes_in_the_pull_request_itself_change_nothing(tmp_path: Path) -> None:
    made = Repository(tmp_path)
    (made.path / ".gitattributes").write_text("*.json binary -diff filter=x\n")
    made.write(sample_bytes(replace(OTHER, notes="x")), name_of(replace(OTHER, notes="x")))
    made.commit()

    assert made.rules() == {".gitattributes": {"path-outside"}}


def test_a_missing_blob_is_a_failure_and_not_an_empty_collection(tmp_path: Path) -> None:
    made = Repository(tmp_path)
    made.add(SMALL)
    blob = made.git("rev-parse", f"main:{FOLDER}/{made.there.name}")
    made.git("checkout", "--quiet", "--detach")
    (made.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()

    with pytest.raises(git.GitError, match=f"found no blob .{blob}. .*missing"):
        made.judge()


def test_a_missing_program_is_a_failure(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.devnull)

    with pytest.raises(git.GitError, match="git could not be run"):
        repository.judge()
