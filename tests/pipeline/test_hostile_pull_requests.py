"""The gate answers every hostile pull request with the right line, and never a traceback.

All of them are branches of one small repository, written in one go by `git fast-import`.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.intake import gate, reply
from pipeline.intake.git import GitError
from schemas.finding import Finding
from tests.cases.git_cases import LINK, MODULE, PULL_REQUESTS, THERE, PullRequest
from tests.nightly import few
from tests.pipeline.repositories import ENVIRONMENT, FOLDER, SMALL, Repository, name_of
from tests.samples import sample_bytes

WHO = b"Ada <ada@example.org> 1763715600 +0000"
BRANCHES = {name: f"pr-{number}" for number, name in enumerate(PULL_REQUESTS)}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    made = Repository(tmp_path_factory.mktemp("hostile"))
    stream = b"".join(part for name, case in PULL_REQUESTS.items() for part in written(name, case))
    command = ["git", "-C", str(made.path), "fast-import", "--quiet"]
    subprocess.run(command, input=stream, check=True, env=ENVIRONMENT)
    return made


def written(name: str, case: PullRequest) -> Iterator[bytes]:
    """One commit on top of `main`, as `git fast-import` reads it."""
    yield b"commit refs/heads/%s\ncommitter %s\n" % (BRANCHES[name].encode(), WHO)
    yield b"data 1\nx\nfrom refs/heads/main\n"
    for path in case.removes:
        yield b"D %s\n" % quoted(path)
    for path, (mode, content) in case.adds.items():
        if mode == MODULE:
            yield b"M 160000 %s %s\n" % (content, quoted(path))
        else:
            head = b"M %s inline %s\ndata %d\n" % (mode.encode(), quoted(path), len(content))
            yield head + content + b"\n"


def quoted(path: str) -> bytes:
    octal = "".join(f"\\{byte:03o}" for byte in path.encode())
    return f'"{octal}"'.encode()


@pytest.mark.parametrize("name", few(PULL_REQUESTS, 20))
def test_each_file_gets_the_right_message(repository: Repository, name: str) -> None:
    judgement = gate.judge(repository.path, base="main", head=BRANCHES[name])

    rules: dict[str, set[str]] = {}
    for finding in judgement.findings:
        rules.setdefault(finding.file, set()).add(finding.rule)
    expected = PULL_REQUESTS[name].expected
    assert judgement.decision == "rejected"
    assert {path: rules.get(path) for path in expected} == {
        path: {rule} for path, rule in expected.items()
    }
    assert len(rules) == len(expected) or name == "three hundred files"
    assert all(line.isprintable() for line in reply.lines(judgement))


def test_a_link_is_never_followed(repository: Repository) -> None:
    links = [
        name for name, case in PULL_REQUESTS.items() if LINK in {m for m, _ in case.adds.values()}
    ]

    said = [gate.judge(repository.path, base="main", head=BRANCHES[name]) for name in links]

    assert len(links) == 4
    assert not any("root:" in f.message for j in said for f in j.findings)


def test_a_merge_of_main_is_judged_by_its_additions(repository: Repository) -> None:
    good = commit(repository, "merged", [("result", sample_bytes(SMALL))])
    tree = repository.git("rev-parse", f"{good}^{{tree}}")
    merge = repository.git("commit-tree", tree, "-p", good, "-p", "main", "-m", "Merge")

    judgement = gate.judge(repository.path, base="main", head=merge)

    assert judgement.decision == "accepted"
    assert judgement.results == (f"{FOLDER}/{name_of(SMALL)}",)


def test_a_history_without_a_common_ancestor_is_one_line(repository: Repository) -> None:
    tree = repository.git("rev-parse", "main^{tree}")
    orphan = repository.git("commit-tree", tree, "-m", "Unrelated")

    assert "shares no history" in outcome(repository.path, "main", orphan)


def test_a_branch_behind_main_contains_no_result(repository: Repository) -> None:
    ahead = commit(repository, "ahead", [("result", sample_bytes(SMALL))])

    assert outcome(repository.path, ahead, "main") == "no-result"


def test_an_empty_repository_is_one_line(tmp_path: Path) -> None:
    command = ["git", "init", "--quiet", str(tmp_path)]
    subprocess.run(command, check=True, env=ENVIRONMENT)

    assert "is not a commit in this clone" in outcome(tmp_path, "main", "HEAD")


def test_a_shallow_clone_is_one_line(repository: Repository, tmp_path: Path) -> None:
    head = commit(repository, "deep", [("a", b"1"), ("b", b"2"), ("c", b"3")])
    address = f"file://{repository.path}"
    clone = ["git", "clone", "--quiet", "--depth=1", "--no-single-branch", "--bare", address]
    subprocess.run([*clone, str(tmp_path / "c")], check=True, env=ENVIRONMENT, capture_output=True)

    assert "git fetch --unshallow" in outcome(tmp_path / "c", "main", head)


@pytest.mark.parametrize("name", ["..", ".", ".git", "a/b", ""])
def test_a_tree_that_git_would_not_write_is_judged_or_reported(
    repository: Repository, name: str
) -> None:
    blob = repository.git("rev-parse", f"main:{THERE}")
    tree = raw_tree(repository, [("100644", name, blob)])
    for folder in reversed(FOLDER.split("/")):
        tree = raw_tree(repository, [("40000", folder, tree)])
    head = repository.git("commit-tree", tree, "-p", "main", "-m", "x")

    assert outcome(repository.path, "main", head) != "accepted"


@pytest.mark.parametrize("revision", ["--help", "-x", "main;id", "$(id)", "main..", "", "\n"])
def test_a_revision_is_never_an_option_or_a_command(repository: Repository, revision: str) -> None:
    told = outcome(repository.path, "main", revision)

    assert "is not a commit in this clone" in told
    assert "\n" not in told


def outcome(path: Path, base: str, head: str) -> str:
    """The decision, or the reported message of git; no other outcome is possible."""
    try:
        judgement = gate.judge(path, base=base, head=head)
    except GitError as error:
        return str(error)
    assert all(isinstance(f, Finding) for f in judgement.findings)
    return judgement.decision


def commit(repository: Repository, branch: str, contents: list[tuple[str, bytes]]) -> str:
    """Commits on their own branch, one for each content of the same good path."""
    path = f"{FOLDER}/{name_of(SMALL)}"
    for number, (_, content) in enumerate(contents):
        parent = b"refs/heads/main" if number == 0 else f"refs/heads/{branch}^0".encode()
        stream = b"commit refs/heads/%s\ncommitter %s\ndata 1\nx\nfrom %s\n" % (
            branch.encode(),
            WHO,
            parent,
        )
        stream += b"M 100644 inline %s\ndata %d\n%s\n" % (quoted(path), len(content), content)
        command = ["git", "-C", str(repository.path), "fast-import", "--quiet"]
        subprocess.run(command, input=stream, check=True, env=ENVIRONMENT)
    return repository.git("rev-parse", branch)


def raw_tree(repository: Repository, entries: list[tuple[str, str, str]]) -> str:
    raw = b"".join(b"%s %s\0%s" % (m.encode(), n.encode(), bytes.fromhex(o)) for m, n, o in entries)
    words = ("hash-object", "-t", "tree", "-w", "--stdin", "--literally")
    command = ["git", "-C", str(repository.path), *words]
    done = subprocess.run(command, input=raw, check=True, env=ENVIRONMENT, capture_output=True)
    return done.stdout.decode().strip()
