"""A stand-in for the Hugging Face hub: the part of its HTTP interface that a download uses.

It serves the requests of `huggingface_hub`. It can cut a connection, answer with an error, and
serve other bytes than it announced.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import cast

COMMIT = "c0ffee" * 6 + "beef"


@dataclass
class FakeHub:
    """One repository. `asked` records its requests: method, path and range."""

    repository: str
    files: dict[str, bytes]
    endpoint: str = ""
    cut_after: int | None = None
    failing: bool = False
    refused_with: str | None = None
    damaged: bool = False
    without_ranges: bool = False
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)

    @property
    def ranges(self) -> list[str | None]:
        """The ranges of the requests for file contents, in order."""
        return [range_ for method, path, range_ in self.asked if method == "GET" and "/re" in path]

    def description(self) -> bytes:
        siblings = [
            {
                "rfilename": name,
                "size": len(content),
                "lfs": {"sha256": sha256(content), "size": len(content), "pointerSize": 130},
            }
            for name, content in self.files.items()
        ]
        return json.dumps({"id": self.repository, "sha": COMMIT, "siblings": siblings}).encode()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@contextmanager
def serving(hub: FakeHub) -> Iterator[FakeHub]:
    """Serve the hub on a free loopback port."""
    server = _Server(("127.0.0.1", 0), _HubHandler)
    server.hub = hub
    hub.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    hub: FakeHub


class _HubHandler(BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass

    def _answer(self, *, body: bool) -> None:
        hub = cast("_Server", self.server).hub
        path = self.path.partition("?")[0]
        hub.asked.append((self.command, path, self.headers["Range"]))
        name = path.removeprefix(f"/{hub.repository}/resolve/{COMMIT}/")
        if hub.refused_with is not None:
            self._send(403, {"X-Error-Code": hub.refused_with}, b"")
        elif path == f"/api/models/{hub.repository}":
            self._send(200, {}, hub.description())
        elif name not in hub.files:
            self._send(404, {"X-Error-Code": "RepoNotFound"}, b"")
        elif body and hub.failing:
            self._send(503, {}, b"")
        else:
            self._send_file(hub, hub.files[name], body=body)

    def _send_file(self, hub: FakeHub, content: bytes, *, body: bool) -> None:
        headers = {
            "X-Repo-Commit": COMMIT,
            "X-Linked-Etag": f'"{sha256(content)}"',
            "X-Linked-Size": str(len(content)),
            "ETag": f'"{sha256(content)}"',
        }
        if hub.damaged:
            content = content[:-1] + b"?"
        wanted = None if hub.without_ranges else self.headers["Range"]
        first, _, last = (wanted or "bytes=0-").removeprefix("bytes=").partition("-")
        start, end = int(first), min(int(last or len(content)) + 1, len(content))
        partial = bool(start or last)
        if partial:
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(content)}"
        cut, hub.cut_after = (hub.cut_after, None) if body else (None, hub.cut_after)
        if cut is not None:
            hub.failing = True  # the hub is away until the test brings it back
        self._send(206 if partial else 200, headers, content[start:end], body=body, cut_after=cut)

    def _send(
        self,
        status: int,
        headers: dict[str, str],
        content: bytes,
        *,
        body: bool = True,
        cut_after: int | None = None,
    ) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            with suppress(BrokenPipeError, ConnectionResetError):  # a client may want no more
                self.wfile.write(content[:cut_after])
        self.close_connection = True
