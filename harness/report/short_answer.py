"""A result's answer in a few plain sentences."""

from collections.abc import Iterator, Sequence

from estimates.intervals import corrected, corrected_estimate
from estimates.model import Estimate, Summary
from estimates.reasons import answer_length
from estimates.verdicts import beyond_drift
from harness import console
from harness.report import words
from harness.report.setting_results import Answer, SettingFigures
from schemas.vocabulary import DOUBTS, say, sentence

_OPENINGS: dict[Answer, str] = {
    "yes": "Yes.",
    "depends": "It depends.",
    "long-answers": "Only for long answers.",
    "unknown": "Not clear yet.",
    "no": "No.",
    "nothing": "No answer.",
}
FEW = "too few prompts were compared."
_WIDE = 2.0  # an interval wider than this factor is not informative


def sentences(best: SettingFigures, summary: Summary) -> str:
    """Return sentences about the best setting."""
    whole = best.whole
    opening = "" if _doubted(best) else _OPENINGS[best.answer]
    if best.answer == "unknown" and beyond_drift(whole):
        opening = "Faster." if (whole.speedup or 0.0) > 1 else "Slower."
    if best.answer in ("yes", "no") and whole.speedup is None and best.tasks:
        opening = f"{opening[:-1]}, for {say.listed([each.scope for each in best.tasks])}."
    if whole.speedup is None and whole.whole_request is not None:
        return f"{opening} {best.arm.id}: {_request(best)} The time per token is unknown."
    parts = [opening, *_parts(best, summary)]
    if whole.at_most:
        parts.append(sentence("at-most"))
    return " ".join(filter(None, parts))


def _parts(best: SettingFigures, summary: Summary) -> Iterator[str]:
    whole = best.whole
    match best.answer:
        case "nothing" if best.verdict == "never-drafted":
            yield f"{best.arm.id} never had a draft to offer, so nothing could change."
        case "nothing":
            yield f"{best.arm.id} could not be measured; --details shows the reason."
        case "long-answers":
            yield from _long_answers(best)
        case "unknown" if whole.interval is None or whole.verdict == "uncertain":
            yield from _undecided(best, summary)
        case "unknown":
            yield from (f"{_rates(best)}: {_excluded(best)}.", _request(best))
        case "yes" | "no" if whole.speedup is not None:
            maybe = _unclear(best) if whole.verdict == "no-clear-difference" else ""
            yield from (f"{_rates(best)}{maybe}.", _request(best), _range(best.tasks))
        case "depends" | "yes" | "no":
            yield from _by_task(best)


def _speedup(each: Estimate, choices: int) -> str:
    return words.speedup(each.speedup, corrected_estimate(each, choices), at_most=each.at_most)


def _rates(best: SettingFigures) -> str:
    return f"{_writes(best)}: {_speedup(best.whole, best.choices)}"


def _unclear(best: SettingFigures) -> str:
    """Return a clause about an interval without a clear difference."""
    interval = corrected_estimate(best.whole, best.choices)
    if interval is not None and interval.high < 1:
        return ", which is slower by an uncertain amount"
    return ", no gain and perhaps a loss"


def _writes(best: SettingFigures) -> str:
    name, whole = best.arm.id, best.whole
    if best.choices > 1:
        name = f"{name}, the best of {best.choices} settings,"
    own = f"{'at most ' if whole.at_most else ''}{say.rate(whole.tps)}"
    plain = f"where plain decoding writes {say.rate(whole.baseline_tps)}"
    return f"{name} writes {own} tokens/s {plain}"


def _request(best: SettingFigures) -> str:
    whole = best.whole
    if whole.whole_request is None:
        if best.alone and best.at_most_request is not None:
            ratio = say.times(best.at_most_request)
            return sentence("draft-unread", ratio=ratio)
        return sentence("no-prompt-time") if best.alone else ""
    interval = whole.whole_request_interval
    if interval is not None:
        interval = corrected(interval, whole.whole_request, best.choices)
    return sentence("request", length="", ratio=words.speedup(whole.whole_request, interval))


def _range(tasks: Sequence[Estimate]) -> str:
    """Describe the tasks with the highest and lowest speedup; this range is not an uncertainty."""
    if len(tasks) <= 1:
        return ""
    ranked = sorted(tasks, key=lambda each: each.speedup or 0.0)
    least, most = (f"{each.scope} ({say.times(each.speedup)})" for each in (ranked[0], ranked[-1]))
    return f"Most on {most}, least on {least}."


def _by_task(best: SettingFigures) -> Iterator[str]:
    rest = [each for each in best.tasks if each not in (*best.helped, *best.lost)]
    groups = (each for each in (best.helped, rest, best.lost) if each)
    if best.whole.speedup is not None:
        text = f"{best.arm.id} is {say.listed([*map(_spread, groups)])}"
        yield f"{text}; over all tasks {_speedup(best.whole, best.choices)}."
        yield _request(best)
    else:
        each = [f"{_speedup(task, best.task_choices)} on {task.scope}" for task in best.tasks]
        yield f"{best.arm.id} is {say.listed(each)}. Other tasks were not measured."
    if best.helped and best.lost:
        names = say.listed([each.scope for each in best.lost])
        yield (f"Leave speculation off for {names}, per request if the server supports that.")
    elif best.helped and rest:
        yield "On other tasks there is no clear gain."


def _spread(tasks: Sequence[Estimate]) -> str:
    """Return the range of the tasks' speedups, such as `1.60-1.90x on code and json`."""
    ratios = sorted(each.speedup or 0.0 for each in tasks)
    span = "\N{EN DASH}".join(dict.fromkeys(f"{ratio:.2f}" for ratio in (ratios[0], ratios[-1])))
    return f"{span}{say.TIMES} on {say.listed([each.scope for each in tasks])}"


def _long_answers(best: SettingFigures) -> Iterator[str]:
    whole = best.whole
    extra_ms = (whole.reading_ms or 0.0) - (whole.baseline_reading_ms or 0.0)
    answers = f"whole answers of {whole.mean_output_tokens or 0:.0f} tokens are"
    request = words.speedup(whole.whole_request, whole.whole_request_interval)
    yield f"{_rates(best)}. But reading the prompt takes {extra_ms / 1000:.2g} s longer:"
    yield f"{answers} {request}."
    if whole.pays_from is not None:
        yield sentence("pays-from", length=answer_length(whole.pays_from))


def _doubted(best: SettingFigures) -> bool:
    """Whether the speedup has an interval but something else rules out a verdict."""
    undecided = best.answer == "unknown" and best.whole.verdict == "uncertain"
    return undecided and best.whole.interval is not None


def _undecided(best: SettingFigures, summary: Summary) -> Iterator[str]:
    """Yield the figures, and the reason why there is no verdict."""
    whole, doubt = best.whole, _doubt(best.whole, summary)
    beyond = f", {sentence('beyond-drift')}" if beyond_drift(whole) else ""
    if _doubted(best) and beyond:
        yield f"{_rates(best)}{beyond}. {_request(best)}"
    elif _doubted(best):
        yield f"{_speedup(whole, best.choices)}, but no verdict: {doubt}"
        yield f"{_writes(best)}. {_request(best)}"
    elif whole.speedup is None and best.tasks:
        yield from _by_task(best)
    elif whole.speedup is not None:
        yield f"{_rates(best)}{beyond}. {_request(best)}"
        yield f"But no verdict: {FEW if beyond else doubt}"
    else:
        yield f"No verdict: {doubt}"


def _doubt(whole: Estimate, summary: Summary) -> str:
    """Return the reason why there is no verdict."""
    flag = next((each for each in summary.flags if each.name == whole.doubt), None)
    if flag is not None:
        return console.as_started(f"{flag.message[0].lower()}{flag.message[1:]} {flag.remedy}")
    return f"{DOUBTS[whole.doubt]}." if whole.doubt and whole.doubt in DOUBTS else FEW


def _excluded(best: SettingFigures) -> str:
    """Return the gains and losses that the interval excludes."""
    interval = corrected_estimate(best.whole, best.choices)
    if interval is not None and interval.low >= 1:
        return "probably a gain, not yet certain"
    if interval is None or interval.high > _WIDE or interval.low < 1 / _WIDE:
        return "the interval is too wide for a conclusion"
    gain, loss = say.percent(interval.high - 1), say.percent(1 - interval.low)
    return f"no gain above {gain} and no loss above {loss}"
