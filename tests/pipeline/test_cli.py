"""The command line prints results on stdout and messages on stderr, with documented codes."""

import gzip
import threading
from functools import partial
from http.client import HTTPConnection
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pipeline.cli import app
from tests.pipeline.tables import put
from tests.samples import sample
from tools.serve import Handler
from tools.serve import main as serve

ROOT = Path(__file__).resolve().parents[2]


def pipeline(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture(autouse=True)
def _from_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.fixture
def rejected(tmp_path: Path) -> Path:
    (tmp_path / "community").mkdir()
    path = tmp_path / "community" / "bad-one.json"
    path.write_text('{"format": "draftmap-submission"')
    return path


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["build", "--extra", "nowhere.json"], 1, "nowhere.json does not exist. "),
        (["build", "--colour"], 2, "No such option: --colour"),
    ],
)
def test_impossible_arguments_end_with_a_message_and_their_code(
    arguments: list[str], code: int, said: str
) -> None:
    done = pipeline(*arguments)

    assert (done.exit_code, done.stdout) == (code, "")
    assert said in done.stderr


def test_a_rejected_file_stops_the_build(rejected: Path, tmp_path: Path) -> None:
    done = pipeline("build", "--results", rejected.parents[1], "--output", tmp_path / "site")

    assert (done.exit_code, done.stdout) == (1, "")
    assert f"{rejected}: $: " in done.stderr
    assert not (tmp_path / "site").exists()


def test_a_missing_results_folder_is_an_error_and_not_an_empty_site(tmp_path: Path) -> None:
    done = pipeline("build", "--results", tmp_path / "resutls", "--output", tmp_path / "site")

    assert done.exit_code == 1
    assert done.stderr.startswith(f"{tmp_path / 'resutls'} does not exist. ")
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize("foreign", ["site", "site-source"])
def test_a_build_removes_nothing_that_no_build_wrote(tmp_path: Path, foreign: str) -> None:
    results = tmp_path / "results"
    put(results, sample(tasks=("code",), blocks=1))
    kept = tmp_path / foreign / "keep.txt"
    kept.parent.mkdir()
    kept.write_text("mine")

    done = pipeline("build", "--results", results, "--output", tmp_path / "site")

    assert done.exit_code == 1
    assert done.stderr.startswith(f"{kept.parent} holds files that no build wrote")
    assert kept.read_text() == "mine"
    assert {each.name for each in tmp_path.iterdir()} == {"results", foreign}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "nowhere contains no site. "),
        (["SITE", "99999"], "Port 99999 cannot be used ("),
    ],
)
def test_a_folder_or_port_that_cannot_be_served_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    (tmp_path / "index.html").write_text("")

    assert serve([str(tmp_path) if word == "SITE" else word for word in words]) == 1

    printed = capsys.readouterr().err
    assert printed.startswith(said)
    assert printed.count("\n") == 1


def test_texts_are_compressed_for_readers_that_take_it(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p>the same</p>" * 100)
    (tmp_path / "dot.png").write_bytes(b"png")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def asked(path: str, **headers: str) -> tuple[str | None, bytes]:
        connection = HTTPConnection("127.0.0.1", server.server_port)
        connection.request("GET", path, headers=headers)
        found = connection.getresponse()
        return found.headers["Content-Encoding"], found.read()

    coding, data = asked("/?card=x", **{"Accept-Encoding": "gzip, br"})
    assert coding == "gzip"
    assert gzip.decompress(data) == b"<p>the same</p>" * 100
    assert asked("/") == (None, b"<p>the same</p>" * 100)
    assert asked("/dot.png", **{"Accept-Encoding": "gzip"}) == (None, b"png")
    server.shutdown()
    server.server_close()


def test_a_site_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    taken = tmp_path / "site"
    taken.write_text("a file, not a folder")

    done = pipeline("build", "--results", tmp_path, "--output", taken)

    assert done.exit_code == 3
    assert done.stderr == f"{taken} cannot be written (File exists). Choose another --output.\n"
