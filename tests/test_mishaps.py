"""A full disk, no memory, a missing library, a dead server, a second build: one line each."""

import errno
import shutil
import socket
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from filelock import FileLock

from harness import cli
from harness.campaign.answer_form import require_schema
from harness.campaign.model import SuitePrompt
from harness.runners.http.client import Client, ServerAddress, ServerSilentError
from harness.runners.http.session import failure_of
from pipeline.cache import Cache
from pipeline.data.database import open_database
from pipeline.errors import RejectedError, UnwritableError, ending
from pipeline.site.build import build

ROOT = Path(__file__).parents[1]
FULL = Path("/dev/full")


@pytest.fixture
def listener() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has a disk that is always full")
def test_a_program_continues_if_its_messages_cannot_be_written() -> None:
    program = (
        "from harness import console; console.prepare_streams()\n"
        "for _ in range(3): console.say('x' * 9000)\n"
        "print('done')"
    )
    with FULL.open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, stderr=full,
            check=False,
        )  # fmt: skip

    assert (done.returncode, done.stdout) == (0, b"done\n")


def test_no_memory_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def without_memory(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(cli, "app", without_memory)
    monkeypatch.setattr(cli, "treat_termination_as_ctrl_c", lambda: None)

    with pytest.raises(SystemExit) as ended:
        cli.main()

    assert ended.value.code == 3
    assert capsys.readouterr().err.startswith("Error: out of memory; ")


@pytest.mark.parametrize("place", ["http://127.0.0.1:{port}/evil.json", "file:///etc/hostname"])
def test_a_suite_asks_no_address_and_opens_no_file(listener: socket.socket, place: str) -> None:
    schema = f'{{"$ref": "{place.format(port=listener.getsockname()[1])}"}}'
    prompt = SuitePrompt(id="a", task="json", text="x", quick=False, schema=schema)

    with listener, pytest.raises(ValueError, match=r"retrieving it failed: .*is not read"):
        require_schema(prompt)
    own = '{"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}'
    require_schema(SuitePrompt(id="b", task="json", text="x", quick=False, schema=own))


def test_a_server_that_ended_during_an_answer_crashed(listener: socket.socket) -> None:
    host, port = listener.getsockname()
    client = Client(address=ServerAddress(host=host, port=port, secure=False, root=""), limit_s=9)
    cut = ServerSilentError("no answer: reset by peer")

    alive = failure_of(cut, client, offers="")
    listener.close()
    dead = failure_of(cut, client, offers="")

    assert (alive.reason, dead.reason) == ("bad-answer", "crashed")
    assert dead.detail == "the server ended: no answer: reset by peer; start it again"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "a.html"), "a.html cannot be written"),
        (ModuleNotFoundError("x", name="vl_convert"), "vl_convert is not installed. Run: make"),
        (MemoryError(), "Out of memory."),
    ],
)
def test_an_error_that_ends_a_build_is_one_line(
    error: BaseException, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended, ending():
        raise error

    printed = capsys.readouterr().err
    assert ended.value.code == 3
    assert printed.startswith(line)
    assert printed.count("\n") == 1


def test_an_error_of_the_program_itself_keeps_its_traceback() -> None:
    with pytest.raises(FileNotFoundError), ending():
        raise FileNotFoundError(errno.ENOENT, "No such file", "template.html")


def test_a_second_build_into_a_folder_is_refused_while_the_first_runs(tmp_path: Path) -> None:
    with (
        FileLock(tmp_path / ".site.lock"),
        pytest.raises(UnwritableError, match=r"^another build is writing .*site; wait"),
    ):
        build(results=ROOT / "results", output=tmp_path / "site")

    assert not (tmp_path / "site").exists()
    assert not (tmp_path / "site-source").exists()


def test_an_entry_of_the_cache_with_another_content_is_a_miss(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put("one", b"first")
    (one,) = tmp_path.iterdir()
    cache.put("two", b"second")
    (two,) = set(tmp_path.iterdir()) - {one}

    shutil.copy(two, one)
    swapped = cache.get("one")
    one.write_bytes(zlib.compress(b"\x93 no value of ours"))

    assert (swapped, cache.get("one"), cache.get("two")) == (None, None, b"second")


@pytest.mark.parametrize("data", [b"[[source", b"\xff\xfe", b"a = " + b"[" * 9000])
def test_a_broken_table_of_sources_is_one_line(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "sources.toml").write_bytes(data)

    with pytest.raises(RejectedError) as raised:
        open_database(tmp_path)

    assert str(raised.value).count("\n") == 0
    assert "sources.toml: $: is not TOML in UTF-8 (" in str(raised.value)
