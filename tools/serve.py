"""Serve a built site on this machine as a static host does: `python -m tools.serve FOLDER`.

A missing address is answered with the site's 404 page, which also shows the submissions that lack a
page in a large collection. Text files are compressed. Only Python is needed.
"""

import argparse
import gzip
import io
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import BinaryIO

# Types worth compressing; pictures and Parquet are compressed already.
TEXTS = ("text/", "application/json", "application/javascript", "application/xml", "image/svg")


class Handler(SimpleHTTPRequestHandler):
    """The standard file server without folder lists and without a log line per request."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".txt": "text/plain; charset=utf-8"}

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def send_head(self) -> io.BytesIO | BinaryIO | None:
        """Send the headers; compress an existing text file if the browser accepts gzip."""
        path = Path(self.translate_path(self.path))
        if self.path.partition("?")[0].endswith("/"):
            path /= "index.html"
        kind = self.guess_type(str(path))
        taken = "gzip" in self.headers.get("Accept-Encoding", "")
        if not taken or not kind.startswith(TEXTS) or not path.is_file():
            return super().send_head()
        data = gzip.compress(path.read_bytes(), compresslevel=6, mtime=0)
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Vary", "Accept-Encoding")
        self.end_headers()
        return io.BytesIO(data)

    def list_directory(self, path: object) -> None:
        """Answer 404 for a folder without a page, as a static host does."""
        del path
        self.send_error(HTTPStatus.NOT_FOUND)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer 404 with the site's own page."""
        page = Path(self.directory, "404.html")
        if code != HTTPStatus.NOT_FOUND or not page.is_file():
            super().send_error(code, message, explain)
            return
        data = page.read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def main(words: Sequence[str] | None = None) -> int:
    """Serve until Ctrl-C. Exit code 1: no such folder, or the port is taken."""
    parser = argparse.ArgumentParser(prog="python -m tools.serve", description=__doc__)
    parser.add_argument("folder", help="a built site, such as build/site")
    parser.add_argument("port", nargs="?", type=int, default=8000)
    chosen = parser.parse_args(words)
    if not Path(chosen.folder, "index.html").is_file():
        sys.stderr.write(f"{chosen.folder} contains no site. Build one: python -m pipeline build\n")
        return 1
    handler = partial(Handler, directory=chosen.folder)
    try:
        server = ThreadingHTTPServer(("127.0.0.1", chosen.port), handler)
    except (OSError, OverflowError) as error:
        sys.stderr.write(f"Port {chosen.port} cannot be used ({error}). Choose another port.\n")
        return 1
    sys.stderr.write(f"Open http://127.0.0.1:{server.server_port}/ and stop with Ctrl-C.\n")
    with server, suppress(KeyboardInterrupt):
        server.serve_forever()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
