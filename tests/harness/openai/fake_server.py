"""Loopback stand-ins for the engines behind OpenAI's protocol.

`python -m tests.harness.openai.fake_server --port N` is a server that a command starts.
"""

import argparse
import json
import pickle
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from typing import Any

from tests.harness.openai.deliveries import Piece
from tests.harness.openai.fake_answers import (
    MODEL,
    Behaviour,
    FakeAnswer,
    Json,
    State,
    answer,
    depth_of,
    page,
    pages_of,
    stream,
    whole,
)


class FakeHandler(BaseHTTPRequestHandler):
    """Answers according to the behaviour of its server."""

    protocol_version = "HTTP/1.1"
    server: "FakeServer"

    def do_GET(self) -> None:
        behaviour = self.server.state.behaviour
        if self._refused():
            return
        pages = pages_of(behaviour)
        if self.path in pages:
            self._send(200, pages[self.path])
        elif self.path == "/metrics":
            self._send(200, page(self.server.state))
        else:
            self._send(404, {"error": {"message": "Not Found"}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        state = self.server.state
        if self._refused():
            return
        if self.path == "/api/show":
            self._send(200, state.behaviour.shows[body["model"]])
            return
        asked = body.get("model", MODEL if state.behaviour.style == "mlx-lm" else None)
        if asked not in state.behaviour.models:
            said = f"The model `{asked}` does not exist."
            self._send(404, {"error": {"message": said, "code": 404}})
            return
        state.arrived(body, dict(self.headers))
        self._answer(body)

    def _answer(self, body: Json) -> None:
        state = self.server.state
        text, depth = body["messages"][0]["content"], depth_of(state, body)
        made = answer(text, body["max_tokens"], depth, state.behaviour.yields)
        with state.lock:
            state.steps += len(made.drafted)
            state.drafted += sum(made.drafted)
            state.accepted += sum(made.accepted)
        if state.behaviour.fault not in _ANSWERS and body.get("stream"):
            self._stream(body, made)
            return
        state.leaves()
        if state.behaviour.fault in _ANSWERS:
            self._send(*_ANSWERS[state.behaviour.fault])
        else:
            self._send(200, whole(state, body, made))

    def _stream(self, body: Json, made: FakeAnswer) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        if self.server.state.behaviour.fault == "silent":
            time.sleep(30)
        _deliver(self.server.state, body, made, self.wfile)

    def _refused(self) -> bool:
        key = self.server.state.behaviour.key
        given = self.headers.get("Authorization")
        if key is None or given == f"Bearer {key}":
            return False
        self._send(401, {"error": {"message": f"Unauthorized: {given}"}})
        return True

    def _send(self, status: int, value: Json | str) -> None:
        data = (value if isinstance(value, str) else json.dumps(value)).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def version_string(self) -> str:
        """The text of the header `Server`."""
        return self.server.state.behaviour.software or super().version_string()

    def log_message(self, *_: object) -> None:
        """Quiet."""


def _deliver(state: State, body: Json, made: FakeAnswer, out: BufferedIOBase) -> None:
    """Stream an answer as its server's delivery says."""
    behaviour, delivery = state.behaviour, state.behaviour.delivery
    before = b": keepalive 36/37\n\n" if behaviour.style == "mlx-lm" else delivery.before
    asked = [each["messages"] for each in state.bodies[:-1]]
    seen = delivery.caches and body["messages"] in asked
    began = time.perf_counter() + (0.0 if seen else delivery.prompt_ms / 1000)
    pieces = delivery.pieces(made.rounds, round_ms=behaviour.round_ms)
    shown = [*_shown(pieces, behaviour.hidden)] or [(pieces[-1][0], ())]
    times = [0.0, *(at for at, _ in shown)]
    for at, chunk in enumerate(stream(state, body, made, [part for _, part in shown])):
        left = began + (times[at] if at < len(times) else times[-1]) / 1000 - time.perf_counter()
        time.sleep(max(0.0, left) if at else 0.0)
        broken = b"{oops" if at == 3 and behaviour.fault == "malformed" else b""
        event = b"data: " + (broken or json.dumps(chunk).encode())
        out.write(before + event + delivery.line + delivery.line)
        out.flush()
    state.leaves()
    out.write(b"data: [DONE]" + delivery.line + delivery.line)


def _shown(pieces: Iterable[Piece], hidden: int) -> Iterator[Piece]:
    """The pieces without their first tokens, which are hidden reasoning."""
    for at, part in pieces:
        if shown := part[hidden:]:
            yield at, shown
        hidden = max(0, hidden - len(part))


_ANSWERS: dict[str | None, tuple[int, Json]] = {
    "limited": (429, {"error": {"message": "Rate limit reached"}}),
    "broken": (500, {"error": {"message": "CUDA out of memory. Tried to allocate 2.00 GiB"}}),
    "told-off": (400, {"error": {"message": "This model's maximum context length is 64 tokens"}}),
}


class FakeServer(ThreadingHTTPServer):
    """A stand-in on a free loopback port."""

    daemon_threads = True

    def __init__(self, behaviour: Behaviour, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), FakeHandler)
        self.state = State(behaviour=behaviour)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_: object) -> None:
        """A client that left is ignored."""


@contextmanager
def serving(port: int = 0, **behaviour: Any) -> Iterator[FakeServer]:  # noqa: ANN401 - fields of `Behaviour`
    """A stand-in that runs until the block ends."""
    server = FakeServer(Behaviour(**behaviour), port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def main() -> None:
    """Serve until a signal ends it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--style", default="vllm")
    parser.add_argument("--depth", type=int, default=0)
    parser.add_argument("--exit", action="store_true")
    parser.add_argument("--as", dest="pickled", type=bytes.fromhex)
    options, _ = parser.parse_known_args()
    if options.exit:
        sys.exit("ValueError: CUDA out of memory while loading the model")
    told = {"style": options.style, "depth": options.depth}
    if options.pickled:
        told = pickle.loads(options.pickled)  # noqa: S301 - the test that starts it wrote it
    FakeServer(Behaviour(**told), options.port).serve_forever()


if __name__ == "__main__":
    main()
