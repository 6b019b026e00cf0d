"""What of a submission a copy keeps, whatever its metadata say: marks and noise.

Marks are single times with enough digits, and runs of ratios of consecutive times, which a common
factor leaves unchanged. Noise is how each time differs from what its arm, prompt and place in the
running order explain. Honest campaigns share the explained part, never the noise.
"""

import itertools
import math
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.submission import Submission, Trial

# Times with fewer digits coincide by chance; without the prompt next to it a time needs more.
DIGITS, DIGITS_ALONE = 5, 7
RATIOS_IN_A_ROW = 3
_RATIO_STEP = 1e-5
# Beyond so many robust standard deviations a stall counts no more than a small one.
_CLIP = 3.0
_MAD_TO_SIGMA = 1.4826
_SWEEPS = 3
SKETCH_LENGTH = 512
_MULTIPLIER = np.uint32(2_654_435_761)  # Knuth's multiplicative hash, 2^32 over the golden ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """`times` and `ratios` are digests of marks, sorted; `noise` goes with the sorted `keys`.

    The noise has length 1 as a vector; it is empty where nothing was repeated. `fitted` is the
    number of means that were taken out of it, as a share of the trials.
    """

    times: NDArray[np.uint32]
    ratios: NDArray[np.uint32]
    keys: NDArray[np.uint32]
    noise: NDArray[np.float32]
    fitted: float

    @property
    def free(self) -> float:
        """How many independent values the noise has."""
        return len(self.keys) * (1 - self.fitted)


def trace(submission: Submission) -> Trace:
    """The trace of a submission; the same trials leave the same trace."""
    timed = [(each, each.decode_ms) for each in submission.trials if each.decode_ms]
    timed.sort(key=lambda pair: pair[0].order)
    exact = [(each, ms, count) for each, ms in timed if (count := digits(ms)) >= DIGITS]
    keys, noise, fitted = _noise(submission, timed)
    order = np.argsort(keys)
    return Trace(
        times=_digests(_time_marks(exact)),
        ratios=_digests(_ratio_marks(exact)),
        keys=keys[order],
        noise=noise[order],
        fitted=fitted,
    )


def _time_marks(exact: Sequence[tuple[Trial, float, int]]) -> Iterator[str]:
    for each, ms, count in exact:
        yield f"{ms!r}" if count >= DIGITS_ALONE else f"{each.prompt} {ms!r}"


def _ratio_marks(exact: Sequence[tuple[Trial, float, int]]) -> Iterator[str]:
    """Ratios of times that follow one another in the same arm, some in a row."""
    by_arm: dict[str, list[float]] = {}
    for each, ms, _ in exact:
        by_arm.setdefault(each.arm, []).append(math.log(ms))
    for logs in by_arm.values():
        steps = [round((b - a) / _RATIO_STEP) for a, b in itertools.pairwise(logs)]
        for start in range(len(steps) - RATIOS_IN_A_ROW + 1):
            yield repr(steps[start : start + RATIOS_IN_A_ROW])


def digits(value: float) -> int:
    """How many significant digits a figure was written with."""
    mantissa = repr(value).partition("e")[0]
    return len(mantissa.replace(".", "").strip("0"))


def _digests(marks: Iterator[str]) -> NDArray[np.uint32]:
    return np.unique(np.fromiter((zlib.crc32(mark.encode()) for mark in marks), np.uint32))


def _noise(
    submission: Submission, timed: Sequence[tuple[Trial, float]]
) -> tuple[NDArray[np.uint32], NDArray[np.float32], float]:
    """Log times without the means of arm and prompt, arm and block, arm and place in the order."""
    methods = {arm.id: arm.method.type for arm in submission.arms}
    pairs = Counter((each.arm, each.prompt) for each, _ in timed)
    repeated = [(each, ms) for each, ms in timed if pairs[each.arm, each.prompt] > 1]
    if not repeated:
        return np.empty(0, np.uint32), np.empty(0, np.float32), 1.0
    groups = _groups([each for each, _ in repeated])
    values = np.log(np.array([ms for _, ms in repeated]))
    for _ in range(_SWEEPS):
        for codes in groups:
            values = values - (np.bincount(codes, values) / np.bincount(codes))[codes]
    scale = _MAD_TO_SIGMA * float(np.median(np.abs(values)))
    values = np.clip(values, -_CLIP * scale, _CLIP * scale)
    length = float(np.linalg.norm(values))
    means = sum(int(codes.max()) + 1 for codes in groups)
    fitted = min(1.0, (means - 2 * len(set(methods))) / len(repeated))
    if length < 1e-9:  # noqa: PLR2004 - nothing is left but rounding
        return np.empty(0, np.uint32), np.empty(0, np.float32), 1.0
    keys = np.fromiter(_keys([each for each, _ in repeated], methods), np.uint32)
    return keys, (values / length).astype(np.float32), fitted


def _groups(trials: Sequence[Trial]) -> list[NDArray[np.int64]]:
    """What explains a time, as codes: arm and prompt, arm and block, arm and place in its turn."""
    turns: Counter[tuple[str, int]] = Counter()
    places = []
    for each in trials:
        places.append(turns[each.prompt, each.block])
        turns[each.prompt, each.block] += 1
    return [
        _codes([(each.arm, each.prompt) for each in trials]),
        _codes([(each.arm, each.block) for each in trials]),
        _codes([(each.arm, place) for each, place in zip(trials, places, strict=True)]),
    ]


def _codes(names: Sequence[object]) -> NDArray[np.int64]:
    known: dict[object, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names])


def _keys(trials: Sequence[Trial], methods: Mapping[str, str]) -> Iterator[int]:
    """A digest of what a trial is, without the names of arms; equal ones are numbered."""
    seen: Counter[str] = Counter()
    for each in trials:
        counters = (each.output_tokens, each.rounds, each.drafted, each.accepted)
        name = f"{methods.get(each.arm)} {each.prompt} {each.block} {counters}"
        seen[name] += 1
        yield zlib.crc32(f"{name} {seen[name]}".encode())


def sketch(of: Trace) -> NDArray[np.float32]:
    """The noise folded into a fixed length: each key has a place and a sign of its own."""
    mixed = of.keys * _MULTIPLIER
    signs = np.where(mixed & np.uint32(1 << 31), 1.0, -1.0)
    places = (mixed >> np.uint32(8)) % np.uint32(SKETCH_LENGTH)
    folded = np.bincount(places, of.noise * signs, SKETCH_LENGTH)
    return folded.astype(np.float32)
