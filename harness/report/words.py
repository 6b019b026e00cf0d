"""Format the values of the report; an unknown value is a dash, never a zero."""

from collections.abc import Collection, Iterator, Sequence

from rich.text import Text

from estimates.model import Estimate, ExactnessCounts, Interval
from schemas.submission import Model
from schemas.vocabulary import say
from schemas.vocabulary.flags import Severity

SEVERITIES: dict[Severity, tuple[str, str]] = {
    "serious": ("!!", "red"),
    "caution": ("!", "yellow"),
    "note": ("\N{EN DASH}", "dim"),
}
AT_MOST = "\N{LESS-THAN OR EQUAL TO}"
_FEWEST_COLUMNS = 4
_BILLION = 1e9
_MILLION = 1e6


def overall(estimates: Sequence[Estimate]) -> Estimate:
    """Return the estimate over all tasks, or for a single task if there is only one."""
    whole = next((e for e in estimates if e.task is None), None)
    tasks = [e for e in estimates if e.task is not None]
    if whole is not None and (whole.speedup is not None or len(tasks) != 1):
        return whole
    return tasks[0]


def speedup(ratio: float | None, interval: Interval | None, *, at_most: bool = False) -> str:
    """Return a speedup with its interval, if both are known."""
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return f"{AT_MOST if at_most else ''}{say.speedup(ratio, low, high)}"


def rates(estimate: Estimate) -> str:
    """Return the tokens per second of plain decoding and of the arm, such as `28.2 → 30.0`."""
    bound = AT_MOST if estimate.at_most else ""
    plain = say.rate(estimate.baseline_tps)
    return f"{plain} \N{RIGHTWARDS ARROW} {bound}{say.rate(estimate.tps)}"


def over_alternative(estimate: Estimate) -> str:
    """Compare the arm's speed with the speed of the target alone in memory; empty if unmeasured."""
    if estimate.over_alternative is None:
        return ""
    found = speedup(estimate.over_alternative, estimate.over_alternative_interval)
    return (
        f"It runs at {found} the speed of {estimate.alternative}, which is the target with all "
        "of the memory to itself."
    )


def rounds(estimate: Estimate) -> str:
    """Return the tokens per round, measured and needed to break even, such as `2.60/1.90`."""
    got, needs = estimate.tokens_per_round, estimate.round_cost
    return f"{say.number(got, 2)}/{say.number(needs, 2)}"


def acceptance(estimate: Estimate) -> str:
    """Return the share of accepted tokens; empty if unknown."""
    if estimate.acceptance_rate is None:
        return ""
    return f"Accepted: {say.percent(estimate.acceptance_rate)} of the drafted tokens."


def energy(estimate: Estimate) -> str:
    """Return the energy of a token without and with speculation; empty if unknown."""
    if estimate.baseline_token_j is None or estimate.token_j is None:
        return ""
    plain, drawn = say.number(estimate.baseline_token_j, 2), say.number(estimate.token_j, 2)
    return f"Energy: {drawn} J for a token instead of {plain} J."


def exactness(counts: ExactnessCounts | None) -> str:
    """Return counts such as `20~3!1`: 20 equal outputs, 3 diverged at a near-tie, 1 elsewhere."""
    if counts is None or not counts.identical + counts.diverged_near_tie + counts.diverged:
        return say.UNKNOWN
    near = f"~{counts.diverged_near_tie}" if counts.diverged_near_tie else ""
    far = f"!{counts.diverged}" if counts.diverged else ""
    return f"{counts.identical}{near}{far}"


def model(described: Model) -> str:
    """Return a model's description, such as `Sample-7B Q4_K_M, 7.0 B parameters, 4.10 GB`."""
    parts = [f"{described.name} {described.quantisation}"]
    if described.parameters:
        parts.append(f"{parameters(described.parameters)} parameters")
    if described.file_bytes:
        parts.append(f"{described.file_bytes / _BILLION:.2f} GB")
    return ", ".join(parts)


def parameters(count: int) -> str:
    """Return a parameter count, such as `7.0 B` or `135 M`."""
    return f"{count / _BILLION:.1f} B" if count >= _BILLION else f"{count / _MILLION:.0f} M"


def seconds(duration_s: float) -> str:
    """Return a duration, such as `45 s`, `12 min` or `2 h 5 min`."""
    if duration_s < 90:  # noqa: PLR2004 - readers think in seconds below a minute and a half
        return f"{max(1, round(duration_s))} s"
    minutes = round(duration_s / 60)
    if minutes < 60:  # noqa: PLR2004 - minutes in an hour
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def aligned(
    rows: Sequence[Sequence[Text]], *, right: Collection[int], width: int, gap: str = " "
) -> Iterator[Text]:
    """Yield rows of cells as aligned lines, without the last columns if a line would be too long.

    `right` has the columns with numbers, which are aligned to the right.
    """
    widths = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
    count = len(widths)
    while count > _FEWEST_COLUMNS and sum(widths[:count]) + len(gap) * (count - 1) > width:
        count -= 1
    for row in rows:
        for number, cell in enumerate(row):
            cell.align("right" if number in right else "left", widths[number])
        line = Text(gap).join(row[:count])
        line.rstrip()
        yield line
