"""With any server, the client ends in time and reports a fault in one line."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli import app
from harness.runners.http.client import (
    Client,
    ServerAddress,
    ServerRefusedError,
    ServerSilentError,
    one_line,
)
from tests.nightly import few

LIMIT_S = 0.3
# Far below the minutes that a dripping server could take, far above a busy machine's delays.
IN_TIME_S = 10.0
HEAD = b"HTTP/1.1 200 OK\r\n"
JSON = HEAD + b"Content-Type: application/json\r\n"


def sends(*parts: bytes) -> Callable[[socket.socket], None]:
    """A server that sends these parts and closes."""

    def answer(connection: socket.socket) -> None:
        for part in parts:
            connection.sendall(part)

    return answer


def drips(start: bytes, drop: bytes) -> Callable[[socket.socket], None]:
    """A server that keeps sending a byte, at intervals shorter than the limit, forever."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(start)
        while True:
            connection.sendall(drop)
            time.sleep(LIMIT_S / 10)

    return answer


def floods(start: bytes) -> Callable[[socket.socket], None]:
    """A server that sends a start and then as much as it can."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(start)
        while True:
            connection.sendall(b"x" * 65536)

    return answer


def is_silent(connection: socket.socket) -> None:
    """A server that reads the request and never answers."""
    while connection.recv(65536):
        pass


@contextmanager
def answering(answer: Callable[[socket.socket], None]) -> Iterator[ServerAddress]:
    """A loopback server that answers every request in the same way."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        ended = threading.Event()

        def serve() -> None:
            while not ended.is_set():
                with suppress(OSError):
                    connection, _ = listener.accept()
                    threading.Thread(target=one, args=(connection,), daemon=True).start()

        def one(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                if answer is not is_silent:
                    connection.recv(65536)
                answer(connection)
                # A request in two pieces that is not read completely would reset the connection.
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield ServerAddress(host="127.0.0.1", port=listener.getsockname()[1])
        ended.set()
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


LATE = {
    "silence": is_silent,
    "a status line that drips": drips(b"HTTP/1.1 200 ", b"O"),
    "headers that drip": drips(HEAD, b"X: y\r\n"),
    "a body that drips": drips(JSON + b"Content-Length: 100000\r\n\r\n", b" "),
    "a body without an end that drips": drips(JSON + b"\r\n", b" "),
    "chunks that drip": drips(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "a refusal that drips": drips(b"HTTP/1.1 500 Oops\r\nContent-Length: 9999\r\n\r\n", b"."),
    "events that drip": drips(HEAD + b"\r\n", b"data: {}\n\n"),
}


@pytest.mark.parametrize("ask", ["get", "post", "lines"])
@pytest.mark.parametrize(
    "answer", few([pytest.param(each, id=name) for name, each in LATE.items()], 3)
)
def test_the_limit_covers_the_whole_answer_however_it_comes(
    answer: Callable[[socket.socket], None], ask: str
) -> None:
    began = time.monotonic()
    with answering(answer) as address, pytest.raises(ServerSilentError) as raised:
        question(Client(address=address, limit_s=LIMIT_S), ask)

    assert raised.value.late
    assert str(raised.value) == "no answer to /x within 0.3 s; raise --timeout"
    assert time.monotonic() - began < IN_TIME_S


BROKEN = {
    "it closes at once": (sends(), "closed connection without response"),
    "it is no HTTP server": (
        sends(b"SSH-2.0-OpenSSH_9.6 \x1b[31m\r\n"),
        "SSH-2.0-OpenSSH_9.6 [31m",
    ),
    "its garbage has no end": (floods(b""), "no answer to /x from http://127.0.0.1"),
    "its headers have no end": (floods(HEAD + b"X: "), "got more than 65536 bytes"),
    "it closes in the headers": (sends(HEAD + b"Content-Le"), "/x is not JSON"),
    "it closes in the body": (sends(JSON + b'Content-Length: 99\r\n\r\n{"a"'), "was cut off"),
    "it closes in a chunk": (
        sends(HEAD + b"Transfer-Encoding: chunked\r\n\r\n20\r\n{"),
        "IncompleteRead",
    ),
    "it sends no JSON": (sends(JSON + b"\r\n<html>"), "/x is not JSON"),
    "it sends nothing but brackets": (sends(JSON + b"\r\n" + b"[" * 100_000), "/x is not JSON"),
}


@pytest.mark.parametrize(("answer", "why"), BROKEN.values(), ids=BROKEN)
def test_an_answer_that_is_broken_is_one_line(
    answer: Callable[[socket.socket], None], why: str
) -> None:
    with answering(answer) as address, pytest.raises(ServerSilentError) as raised:
        Client(address=address, limit_s=IN_TIME_S).get("/x")

    assert not raised.value.late
    assert why in str(raised.value)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 300


def test_lines_end_in_each_of_the_three_ways_and_in_two_pieces() -> None:
    def answer(connection: socket.socket) -> None:
        for part in (HEAD + b"\r\n", b"a\rb\r", b"\nc\n\nd", b"\r\n\r\n"):
            connection.sendall(part)
            time.sleep(0.02)

    with answering(answer) as address:
        lines = [*Client(address=address, limit_s=IN_TIME_S).lines("/x", {})]

    assert lines == [b"a", b"b", b"c", b"", b"d", b"", b""]


@pytest.mark.parametrize("ask", ["get", "lines"])
def test_an_answer_larger_than_the_harness_reads_ends(ask: str) -> None:
    with answering(floods(HEAD + b"\r\n")) as address:
        client = Client(address=address, limit_s=60)

        with pytest.raises(ServerSilentError, match="larger than 64 MiB, the most that"):
            question(client, ask)


def test_a_redirect_is_not_followed_and_the_key_stays_here() -> None:
    there = b"HTTP/1.1 302 Found\r\nLocation: http://elsewhere/?k=s3cret\r\n\r\n"
    with answering(sends(there)) as address, pytest.raises(ServerRefusedError) as raised:
        Client(address=address, limit_s=IN_TIME_S, key="s3cret").get("/x")

    assert str(raised.value) == (
        "HTTP 302: the server redirects to another address; give that address as the server's URL"
    )


def test_an_unpaired_surrogate_becomes_a_question_mark() -> None:
    text = r'{"id": "a\ud800b", "list": ["\ud83d\ude00", "\\\\ud800"]}'
    with answering(sends(JSON + b"\r\n" + text.encode())) as address:
        found = Client(address=address, limit_s=IN_TIME_S).get("/x")

    assert found == {"id": "a?b", "list": ["\N{GRINNING FACE}", r"\\ud800"]}


def test_the_first_question_of_a_run_keeps_the_limit_too(tmp_path: Path, cache_dir: Path) -> None:
    assert cache_dir.is_dir()
    began = time.monotonic()
    with answering(LATE["headers that drip"]) as address:
        done = CliRunner().invoke(
            app,
            ["run", "--runner", "openai", "--base-url", str(address), "--spec-base-url",
             str(address), "--method", "prompt-lookup", "--timeout", "0.3",
             "--output", str(tmp_path)],
        )  # fmt: skip

    assert done.exit_code == 3
    assert done.stderr == (
        "Error: the baseline's server: no answer to /v1/models within 0.3 s; raise --timeout\n"
    )
    assert time.monotonic() - began < IN_TIME_S


def test_a_refusal_is_one_printable_line_without_the_key() -> None:
    refusal = b"HTTP/1.1 401 No\r\n\r\n" + b'{"error": {"message": "bad\\nkey \\u001b[1ms3cret"}}'
    with answering(sends(refusal)) as address, pytest.raises(ServerRefusedError) as raised:
        Client(address=address, limit_s=IN_TIME_S, key="s3cret").get("/x")

    assert str(raised.value) == "HTTP 401: bad key [1m(the key)"
    assert len(one_line("x" * 9999)) == 200


def question(client: Client, ask: str) -> object:
    """Send one of the three kinds of request, and read its answer to the end."""
    if ask == "get":
        return client.text("/x")
    return client.post("/x", {}) if ask == "post" else list(client.lines("/x", {}))
