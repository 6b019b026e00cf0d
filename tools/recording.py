"""Record a command as a picture: `python -m tools.recording OUTPUT.svg PROGRAM [ARGUMENT...]`.

The command is actually run, in an empty folder and in a terminal 100 columns wide. Playback is sped
up by `FASTER`; each line appears when it last changed. All lines appear at once for readers who
prefer reduced motion. Absolute paths are cut to their last part; nothing else changes. `make
recording` calls this program.
"""

import os
import re
import shlex
import subprocess
import sys
import time
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

# A terminal escape code, a line break, or text without both.
CODES = re.compile(r"\x1b\[\??(?P<count>[0-9;]*)(?P<order>[A-Za-z])|[\r\n]|[^\x1b\r\n]+")
PATH = re.compile(r"(?<![\w.~:/-])/(?:[\w.+-]+/)+(?=[\w.+-])")
COLUMNS, FASTER, PAUSE_S = 100, 12, 0.4
ROW, LETTER, LEFT, TOP = 19, 8.0, 18, 46
PAPER, INK = "#18202a", "#e7ebf0"
STYLE = (
    "text{font:13px ui-monospace,Consolas,monospace;white-space:pre}"
    "@keyframes shown{from{opacity:0}to{opacity:1}}"
    "@media(prefers-reduced-motion:no-preference){g{animation:shown .1s both}}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A printed line with its colours, and its time in seconds after the start."""

    at_s: float
    text: Text


def main() -> int:
    """Run a command, draw it, and return its exit code."""
    output, program, *arguments = sys.argv[1:]
    with TemporaryDirectory() as folder:
        pieces, code = printed([str(Path(program).absolute()), *arguments], folder)
    shown = shlex.join([Path(program).name, *arguments])
    Path(output).write_text(svg(shown, [shortened(line) for line in screen(pieces)]), "utf-8")
    return code


def printed(command: Sequence[str], folder: str) -> tuple[list[tuple[float, str]], int]:
    """Run a command; return its output in pieces with their times, and its exit code."""
    began = time.monotonic()
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"COLUMNS": str(COLUMNS), "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as running:
        read = partial(os.read, running.stdout.fileno(), 65536) if running.stdout else bytes
        decoder = getincrementaldecoder("utf-8")()
        found = [(time.monotonic() - began, decoder.decode(data)) for data in iter(read, b"")]
    return found, running.returncode


def screen(pieces: Iterable[tuple[float, str]]) -> list[Line]:
    """Return the lines on the final screen; overwritten text, such as progress bars, is gone."""
    rows: list[tuple[float, str]] = [(0.0, "")]
    row, starts_over = 0, False
    for at_s, code in ((at_s, code) for at_s, text in pieces for code in CODES.finditer(text)):
        order = code["order"] or code[0]
        if order == "A":
            row = max(row - int(code["count"] or 1), 0)
        elif order == "\n":
            row += 1
            rows += [(at_s, "")] if row == len(rows) else []
        elif order == "K":
            rows[row] = (at_s, "")
        elif order == "m" or not (code["order"] or order == "\r"):
            rows[row] = (at_s, code[0] if starts_over else rows[row][1] + code[0])
        starts_over = order == "\r"
    lines = [Line(at_s=at_s, text=Text.from_ansi(text)) for at_s, text in rows]
    return lines[
        : 1 + max((n for n, each in enumerate(lines) if each.text.plain.strip()), default=-1)
    ]


def shortened(line: Line) -> Line:
    """Remove the folders of absolute paths; a line with such a path loses its colours."""
    plain = PATH.sub("", line.text.plain)
    return line if plain == line.text.plain else replace(line, text=Text(plain))


def svg(command: str, lines: Sequence[Line]) -> str:
    """The picture: a window with the command and its lines."""
    height = TOP + ROW * (len(lines) + 1) + 12
    width = round(COLUMNS * LETTER) + 2 * LEFT
    dots = "".join(
        f'<circle cx="{LEFT + 6 + 18 * n}" cy="18" r="5" fill="#515c69"/>' for n in range(3)
    )
    took = f"{lines[-1].at_s:.0f} s, played at {FASTER}x speed" if lines else ""
    rows = [_row(0, 0.0, Text.assemble((f"$ {command}", "bold")))]
    rows += [_row(n, _moment(n, line), line.text) for n, line in enumerate(lines, start=1)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
        f' aria-label="{escape(command, quote=True)}"><style>{STYLE}</style>'
        f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER}"/>{dots}'
        f'<text x="{width - LEFT}" y="23" fill="#a3afbd" text-anchor="end">{took}</text>'
        f"{''.join(rows)}</svg>\n"
    )


def _moment(number: int, line: Line) -> float:
    """Time at which a line appears; simultaneous lines are staggered, so that they can be read."""
    return max(line.at_s / FASTER, PAUSE_S) + 0.02 * number


def _row(number: int, moment: float, text: Text) -> str:
    y = TOP + ROW * number
    line = f'<text y="{y}" xml:space="preserve">{"".join(_spans(text))}</text>'
    return f'<g style="animation-delay:{moment:.2f}s">{line}</g>'


def _spans(text: Text) -> Iterator[str]:
    """Yield each piece of a line that is in one style."""
    end = 0
    for part in text.render(Console()):
        style, words = part.style or Style(), part.text.strip()
        x = LEFT + LETTER * (end + len(part.text) - len(part.text.lstrip()))
        end += len(part.text)
        weight = ' font-weight="700"' if style.bold else ""
        faint = ' opacity=".7"' if style.dim else ""
        look = f'fill="{_colour(style.color)}" textLength="{LETTER * len(words):g}"{weight}{faint}'
        if words:
            yield f'<tspan x="{x:g}" {look}>{escape(words)}</tspan>'


def _colour(colour: Color | None) -> str:
    return colour.get_truecolor(DIMMED_MONOKAI).hex if colour else INK


if __name__ == "__main__":
    sys.exit(main())
