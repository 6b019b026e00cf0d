"""Whether the figures of a text are about one run; `runs.js` splits them by the same rules."""

from collections.abc import Sequence
from itertools import groupby

from harness.imports.forms import Found
from harness.imports.source_files import wrong

_UNLIKE = 1.1  # the same work again at a speed that differs by more is another setting
_USED = ("rate", "tpot_ms", "tokens", "drafted", "accepted", "rounds", "length", "share", "calls")


def used(found: Sequence[Found]) -> list[Found]:
    """Return the entries with a figure about speed or drafts."""
    return [each for each in found if any(each.number(name) for name in _USED)]


def is_one_run(found: Sequence[Found]) -> bool:
    """Whether these figures can be those of one run, and not as well those of two."""
    own = used(found)
    if len({_origin(each) for each in own}) > 1:
        return False
    requests = [each for each in own if each.form.gives == "request"]
    if requests and len(requests) == len(own) and not any(each.is_request for each in own):
        return len(own) == 1  # parts of requests
    is_tasked = any(each.task for each in own)  # one server wrote all of it
    return is_tasked or not (_has_two_states(own) or _is_repeated(requests))


def require_one_run(name: str, found: Sequence[Found]) -> None:
    """Raise `BadInputError` if a file has figures of several runs."""
    if not is_one_run(found):
        raise wrong(name, "the file has figures of several runs", "give each run its own file")


def _origin(each: Found) -> tuple[object, ...]:
    """Return the facts that all figures of a run share; forms of one tool belong together."""
    server = None if each.task is None else each.server
    row, stage = each.figures.get("row"), each.figures.get("run")
    tool = each.form.tool or each.form.of
    return each.part, tool, server, each.is_timed, each.is_alone, row, stage


def _has_two_states(found: Sequence[Found]) -> bool:
    """Whether requests or speeds without drafts are followed by such with drafts, or reversed."""
    rows = [each for each in found if each.form.gives in ("request", "rate")]
    blocks = [[*own] for _, own in groupby(rows, _drafts)]
    if len(blocks) != 2 or "once" in rows[0].figures:  # noqa: PLR2004 - two blocks
        return False
    # Statistics before the first drafts show that the run could draft.
    return all(each.form.gives != "statistics" for each in found[: found.index(blocks[1][0])])


def _drafts(each: Found) -> bool:
    counts = any(each.number(name) for name in ("drafted", "accepted", "share"))
    return counts or (each.number("length") or 0.0) > 1


def _is_repeated(requests: Sequence[Found]) -> bool:
    """Whether the same requests come twice, at two speeds."""
    rows = [each for each in requests if each.is_request]
    both = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    work = [[(e.number("tokens"), e.number("prompt_tokens")) for e in own] for own in both]
    first, second = (sum(each.step_ms or 0.0 for each in own) for own in both)
    return work[0] == work[1] and max(first, second) > _UNLIKE * min(first, second)
