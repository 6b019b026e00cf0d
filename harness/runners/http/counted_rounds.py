"""Count the rounds of an answer from the server's counts, in the answer or on the metrics page.

The result format defines `output_tokens = 1 + accepted + rounds`. Engines also count accepted
tokens of the last round that are not in the output: vLLM verifies a whole draft and then cuts at
the limit, llama.cpp counts a whole draft in which the answer ended. These surplus tokens are
subtracted here. Their number follows from two lower bounds on the number of rounds. One is the
number of rounds that drafted, which is at least the number of drafted tokens divided by the
method's depth. The other is the number of chunks of token ids after the first, since no engine
splits the tokens of a round into two chunks.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from harness.runners.base import Totals

# The prefixes are those of each engine; the suffix `_total` is optional.
_LINE = re.compile(
    r"^(?P<series>(?:llamacpp:spec_decode|vllm:spec_decode|mistralrs_speculative)_"
    r"(?P<name>[a-zA-Z0-9_:]*?)(?:_total)?(?:\{(?P<labels>[^}]*)\})?)\s+(?P<value>\S+)",
    re.MULTILINE,
)
_POSITION = re.compile(r'position="(\d{1,3})"')
_MOST = 2**53  # larger counts are not exact as floats
_LONGEST_DRAFT = 256
# The names of the same counters in each engine.
_ROUNDS = ("num_drafts", "drafts")
_DRAFTED = ("num_draft_tokens", "draft_tokens", "draft_tokens_proposed")
_ACCEPTED = ("num_accepted_tokens", "accepted_tokens", "draft_tokens_accepted")
_BY_POSITION = ("num_accepted_tokens_per_pos", "accepted_tokens_per_pos")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """One answer's speculation counts, as reported by the engine.

    `steps` is the number of rounds that drafted, `histogram` counts these rounds by accepted
    length, `lengths` has the number of tokens drafted in each of them, and `depth` is the depth
    with which the server was started.
    """

    drafted: int
    accepted: int
    steps: int | None = None
    histogram: tuple[int, ...] | None = None
    lengths: tuple[int, ...] | None = None
    depth: int | None = None

    def in_levels(self, levels: int) -> "Counted":
        """Count one drafted token for each level of a tree, of which a round accepts at most one.

        Without the number of rounds, the counts stay as reported.
        """
        return self if self.steps is None else replace(self, drafted=self.steps * levels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """One reading of a metrics page: rounds that drafted, tokens drafted and accepted so far.

    `accepted_at[i]` counts the rounds in which draft token i was accepted; it is empty if the page
    has no counts per position.
    """

    rounds: int
    drafted: int
    accepted: int
    accepted_at: tuple[int, ...] = ()

    def since(self, earlier: "Counters") -> Counted:
        """Return the counts of the single answer between an earlier reading and this reading."""
        before = earlier.accepted_at + (0,) * (len(self.accepted_at) - len(earlier.accepted_at))
        at = [now - then for now, then in zip(self.accepted_at, before, strict=True)]
        rounds = self.rounds - earlier.rounds
        accepted = self.accepted - earlier.accepted
        return Counted(
            drafted=self.drafted - earlier.drafted,
            accepted=accepted,
            steps=rounds,
            histogram=by_length(rounds, at) if at or not accepted else None,
        )


def by_length(rounds: int, accepted_at: Sequence[int]) -> tuple[int, ...] | None:
    """The number of rounds that drafted, by accepted length.

    A round that accepted k tokens accepted positions 0 to k - 1, so exactly k tokens were accepted
    in the rounds that accepted position k - 1 but not position k. `None` if the counts increase
    from one position to the next.
    """
    reached = (rounds, *accepted_at, 0)
    exactly = [here - further for here, further in pairwise(reached)]
    return None if min(exactly) < 0 else without_zeros(exactly)


def read_counters(text: str) -> Counters | None:
    """Read the speculation counters in a metrics page; `None` if they are missing or not counts."""
    values: dict[str, float] = {}
    positions: dict[int, float] = {}
    seen = set[str]()
    for match in _LINE.finditer(text):
        name, value = match["name"], _count(match["value"])
        if value is None or match["series"] in seen:  # not a count, or a duplicate
            return None
        seen.add(match["series"])
        position = _POSITION.search(match["labels"] or "")
        if name in _BY_POSITION and position:
            index = int(position[1])
            positions[index] = positions.get(index, 0.0) + value
        elif not position:
            values[name] = values.get(name, 0.0) + value
    rounds, drafted, accepted = (
        next((int(values[name]) for name in names if name in values), None)
        for names in (_ROUNDS, _DRAFTED, _ACCEPTED)
    )
    if drafted is None or accepted is None or rounds is None:
        return None
    at = tuple(int(positions.get(index, 0)) for index in range(max(positions, default=-1) + 1))
    return Counters(rounds=rounds, drafted=drafted, accepted=accepted, accepted_at=at)


def _count(text: str) -> float | None:
    """Return a counter's value, such as 3.0 or 1e3; `None` for a word, NaN or infinity."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < _MOST else None


def totals(
    *,
    decode_ms: float,
    output_tokens: int,
    counted: Counted | None,
    page: Counted | None = None,
    chunk_tokens: Sequence[int] = (),
    depth: int | None = None,
) -> Totals:
    """Return the totals over an answer's rounds.

    `page` has the counts from the metrics page, if it was read too.

    `depth` is the requested depth. Counts that imply more accepted tokens in a round than this
    depth are rejected, since such counts must include other answers. If the depth is unknown, it is
    taken to be at most twice the mean length of a draft.
    """
    if counted is None:
        return Totals(decode_ms=decode_ms)
    cut = cut_off(counted, output_tokens, chunk_tokens)
    accepted_at_once = len(counted.histogram) - 1 if counted.histogram else None
    mean = -(-counted.drafted // counted.steps) if counted.steps else None
    depth = counted.depth or depth or (mean and 2 * mean)
    bounds = [each for each in (depth, accepted_at_once) if each is not None]
    if cut > min(bounds, default=cut):
        return Totals(decode_ms=decode_ms)
    accepted = counted.accepted - cut
    rounds = output_tokens - 1 - accepted
    differs = page is not None and not agree(page, counted)
    return Totals(
        decode_ms=decode_ms,
        rounds=rounds,
        drafted=counted.drafted,
        accepted=accepted,
        accepted_histogram=_histogram(counted, rounds, cut, chunk_tokens),
        drafted_histogram=_drafted(counted, rounds),
        metrics_drafted=page.drafted if page and differs else None,
        # Counted as the result format defines, so that only a real difference is visible.
        metrics_accepted=max(page.accepted - cut, 0) if page and differs else None,
    )


def agree(page: Counted, counted: Counted) -> bool:
    """Whether a metrics page counted the same drafts as the answer."""
    return (page.drafted, page.accepted) == (counted.drafted, counted.accepted)


def cut_off(counted: Counted, output_tokens: int, chunk_tokens: Sequence[int]) -> int:
    """Return the number of accepted tokens of the last round that are not in the output."""
    rounds = output_tokens - 1 - counted.accepted
    steps = counted.steps or 0
    if counted.depth and counted.steps is None:
        steps = -(-counted.drafted // counted.depth)
        if steps - rounds > counted.depth:  # more than a round can accept: the real depth differs
            steps = 0
    fewest = max(steps, len(chunk_tokens) - 1, 0)
    return min(max(0, fewest - rounds), counted.accepted)


def _histogram(
    counted: Counted, rounds: int, cut: int, chunk_tokens: Sequence[int]
) -> tuple[int, ...] | None:
    """Count rounds by accepted length; `None` if the length of any round is unknown."""
    if not counted.accepted:
        return (rounds,)
    if counted.histogram is None or counted.steps is None:
        return None
    counts = [*counted.histogram]
    if cut:
        last = (chunk_tokens[-1] if chunk_tokens else 0) - 1 + cut
        if not cut <= last < len(counts) or not counts[last]:
            return None
        counts[last] -= 1
        counts[last - cut] += 1
    counts[0] += rounds - counted.steps
    histogram = without_zeros(counts)
    tokens = sum(length * number for length, number in enumerate(histogram))
    adds_up = min(histogram) >= 0 and sum(histogram) == rounds and tokens == counted.accepted - cut
    return histogram if adds_up else None


def _drafted(counted: Counted, rounds: int) -> tuple[int, ...] | None:
    """Count rounds by drafted length; `None` if the length of any round is unknown."""
    lengths = counted.lengths
    if lengths is None or sum(lengths) != counted.drafted or len(lengths) > rounds:
        return None
    if not 0 <= min(lengths, default=0) <= max(lengths, default=0) <= _LONGEST_DRAFT:
        return None
    counts = [lengths.count(length) for length in range(max(lengths, default=0) + 1)]
    counts[0] += rounds - len(lengths)
    return tuple(counts)


def without_zeros(counts: Sequence[int]) -> tuple[int, ...]:
    """Return counts by accepted length without trailing zeros."""
    last = max((length for length, number in enumerate(counts) if number), default=0)
    return tuple(counts[: last + 1])
