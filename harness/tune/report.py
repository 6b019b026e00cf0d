"""Show a tune: its findings and advice, and a chart of speedup over depth (SVG)."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from xml.sax.saxutils import escape

from answers.engine_commands import ServeLine
from harness import files
from harness.machine.command_line import pasted
from harness.tune.decisions import SpeedRatio
from harness.tune.outcome import Contender, Outcome, by_task, recommended, why
from schemas.vocabulary import say, sentence

_WIDTH = 79
_TASKS_SHOWN = 8


def lines(outcome: Outcome, *, command: ServeLine | None) -> Iterator[str]:
    yield from wrap(why(outcome), _WIDTH)
    effort = f"{say.count(len(outcome.contenders), 'arm')} considered"
    if "race" in outcome.stages:
        prompts = say.count(len(outcome.stages["race"].suite.prompts), "prompt")
        effort += (
            f"; {outcome.raced} of them measured in the race on {prompts}, the others only forecast"
        )
    yield from wrap(f"{effort}; {say.count(outcome.trials, 'trial')} in total.", _WIDTH)
    yield from _tasks(outcome)
    if outcome.verdict is None or outcome.leader is None:
        return
    advice = f"Use {outcome.leader.arm.id}" if recommended(outcome) else sentence("off")
    yield f"{advice}{':' if command else '.'}"
    if command:
        yield pasted(command.words)
        yield from [command.note] if command.note else []


def _tasks(outcome: Outcome) -> Iterator[str]:
    """Yield the better arm on every task, in as few lines as possible."""
    found = list(by_task(outcome))
    if len(found) < 2:  # noqa: PLR2004 - a single task is the whole
        return
    leader = outcome.leader.arm.id if outcome.leader else ""
    parts = []
    for each in found[:_TASKS_SHOWN]:
        other = "" if each.arm == leader else f" with {each.arm}"
        word = {"use": "", "off": " off,", "unclear": " unclear,"}[each.word]
        parts.append(f"{each.task}{word} {say.times(each.speedup.estimate)}{other}")
    yield from wrap(f"By task: {'; '.join(parts)}.", _WIDTH)


def _bar(found: SpeedRatio) -> tuple[float, float]:
    """Return the ends of a measurement's interval, limited to a factor of two for drawing."""
    if found.interval is None:
        return found.estimate, found.estimate
    return max(found.interval.low, found.estimate / 2), min(found.interval.high, found.estimate * 2)


def write_svg(outcome: Outcome, path: Path) -> bool:
    """Write the chart of the leader's family, or else of the best forecast's.

    Returns whether the family has more than one depth and the chart was written. Raises `OSError`.
    """
    best = outcome.leader or max(
        outcome.contenders, key=lambda each: each.predicted or 0.0, default=None
    )
    depths = {
        e.depth: e for e in outcome.contenders if best and e.family == best.family and e.depth
    }
    shown = [contender for _, contender in sorted(depths.items())]
    if len(shown) < 2:  # noqa: PLR2004 - one depth is not a curve
        return False
    with files.written(path) as part:
        picture = _PICTURE.format(
            width=_SVG_WIDTH,
            height=_SVG_HEIGHT,
            title=escape(f"{shown[0].family}: speedup over depth (line: forecast, dots: measured)"),
            parts="\n".join(_svg_parts(shown, outcome.leader if outcome.certified else None)),
        )
        part.write_text(picture, encoding="utf-8")
    return True


_SVG_WIDTH, _SVG_HEIGHT, _SVG_MARGIN = 640, 360, 48
_GREY, _BLUE = "#808A99", "#0A7BBF"
_PICTURE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"
 font-family="sans-serif" font-size="12">
<title>{title}</title>
<rect width="{width}" height="{height}" fill="#ffffff"/>
<text x="48" y="24" font-size="14">{title}</text>
{parts}
</svg>
"""


def _svg_parts(shown: Sequence[Contender], pick: Contender | None) -> Iterator[str]:
    """Yield the elements of the chart; a ring marks the certified arm."""
    values = [1.0, *(each.predicted for each in shown if each.predicted is not None)]
    values += [end for each in shown if each.gain for end in _bar(each.gain)]
    room = max(0.02, 0.05 * (max(values) - min(values)))
    low, high = min(values) - room, max(values) + room
    last, deepest = shown[-1], shown[-1].depth

    def x(depth: float) -> str:
        return f"{_SVG_MARGIN + depth / (deepest + 0.5) * (_SVG_WIDTH - 1.5 * _SVG_MARGIN):.1f}"

    def y(value: float, down: float = 0.0) -> str:
        room = _SVG_HEIGHT - 2 * _SVG_MARGIN
        return f"{_SVG_MARGIN + (high - value) / (high - low) * room + down:.1f}"

    yield _line(x(0), x(deepest), y(1), y(1), f'stroke="{_GREY}" stroke-dasharray="4"')
    yield f'<text x="{_SVG_WIDTH - 16}" y="{_SVG_HEIGHT - 4}" text-anchor="end">depth</text>'
    for tenth in range(5):
        value = low + (high - low) * tenth / 4
        yield f'<text x="6" y="{y(value, 4)}">{say.times(value)}</text>'
    points = " ".join(f"{x(c.depth)},{y(c.predicted)}" for c in shown if c.predicted is not None)
    yield f'<polyline points="{points}" fill="none" stroke="{_GREY}" stroke-width="2"/>'
    # Place the label on the side of the line without the curve, with an outline that separates
    # label and bar.
    below = (last.predicted or (last.gain.estimate if last.gain else 1.0)) > 1
    rim = 'stroke="#ffffff" stroke-width="4" paint-order="stroke"'
    word = f'x="{x(deepest)}" y="{y(1, 16 if below else -6)}" text-anchor="end" {rim}'
    yield f"<text {word}>no speculation</text>"
    for contender in shown:
        at = x(contender.depth)
        yield f'<text x="{at}" y="{_SVG_HEIGHT - 20}" text-anchor="middle">{contender.depth}</text>'
        if contender.gain is not None:
            yield from _measured(contender.gain, at, y, best=contender is pick)


def _measured(gain: SpeedRatio, at: str, y: Callable[..., str], *, best: bool) -> Iterator[str]:
    least, most = _bar(gain)
    middle = y(gain.estimate)
    yield _line(at, at, y(least), y(most), f'stroke="{_BLUE}" stroke-width="2"')
    yield f'<circle cx="{at}" cy="{middle}" r="5" fill="{_BLUE}"/>'
    if best:
        ring = f'fill="none" stroke="{_BLUE}" stroke-width="2"'
        yield f'<circle cx="{at}" cy="{middle}" r="10" {ring}/>'
        word = f'x="{at}" y="{y(most, -8)}" text-anchor="middle" font-weight="bold"'
        yield f"<text {word}>best</text>"


def _line(x1: str, x2: str, y1: str, y2: str, look: str) -> str:
    return f'<line x1="{x1}" x2="{x2}" y1="{y1}" y2="{y2}" {look}/>'
