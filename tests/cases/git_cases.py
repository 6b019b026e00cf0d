"""Pull requests that try to fool the gate, each with its change of the tree and expected answer.

A file is (mode, content); the path is the one that git stores, quoted for `git fast-import` if it
is not a plain word. Expected are the rules by path; `ERROR` means one line about git itself.
"""

from dataclasses import dataclass, field
from typing import Final

from tests.pipeline.repositories import FOLDER, OTHER, SMALL, name_of
from tests.samples import sample_bytes

REGULAR, EXECUTABLE, LINK, MODULE = "100644", "100755", "120000", "160000"
GOOD: Final = f"{FOLDER}/{name_of(SMALL)}"
THERE: Final = f"{FOLDER}/{name_of(OTHER)}"
_DATA, _OTHER_DATA = sample_bytes(SMALL), sample_bytes(OTHER)


@dataclass(frozen=True, kw_only=True)
class PullRequest:
    """A pull request's additions and removals, and the rules expected by path."""

    adds: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    removes: tuple[str, ...] = ()
    expected: dict[str, str]


def _in(name: str) -> str:
    return f"{FOLDER}/{name}"


def _named(path: str, rule: str = "path-name", mode: str = REGULAR) -> PullRequest:
    return PullRequest(adds={path: (mode, _DATA)}, expected={path: rule})


def _good(content: bytes, rule: str, mode: str = REGULAR) -> PullRequest:
    """A file in the place of a good result."""
    return PullRequest(adds={GOOD: (mode, content)}, expected={GOOD: rule})


def _edit(content: bytes, mode: str = REGULAR) -> PullRequest:
    """Another file in the place of an existing result."""
    return PullRequest(adds={THERE: (mode, content)}, expected={THERE: "path-not-added"})


def _beside(path: str, content: bytes = b"x\n") -> PullRequest:
    """A good result, and another file that a pull request with results must leave alone."""
    return PullRequest(
        adds={GOOD: (REGULAR, _DATA), path: (REGULAR, content)}, expected={path: "path-outside"}
    )


PULL_REQUESTS: dict[str, PullRequest] = {
    "a workflow beside the result": _beside(".github/workflows/submission.yml"),
    "a validator beside the result": _beside("schemas/strict.py"),
    "attributes at the top": _beside(".gitattributes", b"* filter=x\n"),
    "a published file": _beside("results/published/x.json"),
    "a folder that only begins alike": _beside("results/community-2/x.json"),
    "the folder in capitals": _beside(f"results/Community/{name_of(SMALL)}"),
    "the folder with a dot at its end": _beside(f"results./community/{name_of(SMALL)}"),
    "the folder with an invisible letter": _beside(f"res\u200dults/community/{name_of(SMALL)}"),
    "an entry about a contributor": _beside("results/lifecycle/contributor--ada.json", b"{}\n"),
    "attributes in the folder": _named(_in(".gitattributes")),
    "a hidden name": _named(_in(".x.json")),
    "a symbolic link": _good(b"../../README.md", "path-mode", LINK),
    "a symbolic link out of the repository": _good(b"/etc/passwd", "path-mode", LINK),
    "an executable bit": _named(GOOD, "path-mode", EXECUTABLE),
    "a submodule": _good(b"1" * 40, "path-mode", MODULE),
    "a folder where a file is expected": _named(f"{GOOD}/x.json", "path-folder"),
    "a folder below": _named(_in("deeper/x.json"), "path-folder"),
    "the folder as a file": PullRequest(
        adds={FOLDER: (REGULAR, b"x")},
        removes=(THERE,),
        expected={FOLDER: "path-name", THERE: "path-not-added"},
    ),
    "the folder as a link": PullRequest(
        adds={FOLDER: (LINK, b"/tmp")},
        removes=(THERE,),
        expected={FOLDER: "path-mode", THERE: "path-not-added"},
    ),
    "an edit": _edit(_DATA),
    "an edit to nothing": _edit(b""),
    "a removal": PullRequest(removes=(THERE,), expected={THERE: "path-not-added"}),
    "a removal beside a good result": PullRequest(
        adds={GOOD: (REGULAR, _DATA)}, removes=(THERE,), expected={THERE: "path-not-added"}
    ),
    "an executable bit on what is there": _edit(_OTHER_DATA, EXECUTABLE),
    "a link in place of what is there": _edit(b"x", LINK),
    "a rename": PullRequest(
        adds={THERE.replace("rtx", "gtx"): (REGULAR, _OTHER_DATA)},
        removes=(THERE,),
        expected={THERE: "path-not-added", THERE.replace("rtx", "gtx"): "path-duplicate"},
    ),
    "a copy under another name": PullRequest(
        adds={THERE.replace("rtx", "gtx"): (REGULAR, _OTHER_DATA)},
        expected={THERE.replace("rtx", "gtx"): "path-duplicate"},
    ),
    "a case twin of what is there": _named(
        f"{_in(name_of(OTHER)[:-5].upper())}.json", "path-case-twin"
    ),
    "a case twin within the pull request": PullRequest(
        adds={GOOD: (REGULAR, _DATA), _in(name_of(SMALL).upper()): (REGULAR, _DATA)},
        expected={_in(name_of(SMALL).upper()): "path-case-twin"},
    ),
    "the same result twice": PullRequest(
        adds={GOOD: (REGULAR, _DATA), GOOD.replace("rtx", "gtx"): (REGULAR, _DATA)},
        expected={GOOD: "duplicate", GOOD.replace("rtx", "gtx"): "canonical-name"},
    ),
    "a newline in the name": _named(_in("a\nb.json")),
    "a command of GitHub in the name": _named(_in("\n::error::x.json")),
    "a backslash in the name": _named(_in("a\\b.json")),
    "markup in the name": _named(_in("<img src=x onerror=alert(1)>.json")),
    "an option as a name": _named(_in("--help.json")),
    "an accent in the name": _named(_in("r\u00e9sultat.json")),
    "an override from right to left in the name": _named(_in("x\u202enosj.json")),
    "a full-width name": _named(_in("\uff41bc.json")),
    "spaces in the name": _named(_in("a b.json")),
    "a name of Windows": _named(_in("con.json")),
    "a name that ends in a dot": _named(_in("result.json.")),
    "another ending": _named(_in("result.json5")),
    "an ending in capitals": _named(_in("result.JSON")),
    "a name that is too long": _named(_in("x" * 200 + ".json")),
    "a name that is too short": _named(_in("a.json")),
    "a name of the wrong form": _named(_in("mine.json"), "canonical-name"),
    "a digest that is wrong": _named(GOOD[:-13] + "00000000.json", "canonical-name"),
    "a day that is wrong": _named(GOOD.replace("20261121", "20261122"), "canonical-name"),
    "more bytes than accepted": _good(b" " * 524_289, "path-size"),
    "twenty million bytes": _good(b" " * 20_000_000, "path-size"),
    "no bytes": _good(b"", "json"),
    "bytes that are not text": _good(b"\x00\xff\xfe", "encoding"),
    "lines that end as on Windows": _good(_DATA.replace(b"\n", b"\r\n"), "canonical-form"),
    "a pointer of large file storage": _good(b"version 1\noid sha256:00\nsize 1\n", "json"),
    "three hundred files": PullRequest(
        adds={_in(f"flood-{number:03}.json"): (REGULAR, b"{}") for number in range(300)},
        expected={FOLDER: "path-count"},
    ),
}
