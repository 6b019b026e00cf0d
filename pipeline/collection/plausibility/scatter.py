"""Compare the scatter of submissions' times, to recognise a copy with some noise added.

Repeats of one prompt by one arm differ by a percent or so, in a pattern that is new in every run. A
copy keeps the pattern, whatever its times are multiplied by and however many digits are changed.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from estimates.flags.observation import bounds
from schemas.submission import Trial

# A forger may rename arms and prompts, or reorder the trials, so trials are matched in both ways.
KINDS: Mapping[str, Callable[[Trial], str]] = {
    "scatter": lambda trial: f"{trial.arm} {trial.prompt} {trial.block}",
    "scatter in order": lambda trial: str(trial.order),
}
# Trials share this many numbers, which makes two unrelated patterns agree by 0.06 (Weinberger et
# al. 2009, Feature Hashing for Large Scale Multitask Learning).
_NUMBERS = 256
_MIDDLE, _MOST = 128, 127  # a number is stored as 1 to 255
_OUTLIER = 3.0  # times the median; a longer stall, as of a first trial, counts as much as this
_LEAST_FREEDOM = 4
_AT_ONCE = 512  # rows of one product
_COPIED = bounds("copied-times")


def scatter_of(trials: Sequence[Trial]) -> dict[str, NDArray[np.uint32]]:
    """The pattern of a submission's times for each of the `KINDS`: degrees of freedom, numbers.

    Each logarithm of a time is taken relative to the mean of its arm and prompt and to the mean of
    its arm and block. A pattern is empty if no prompt was repeated.
    """
    timed = [each for each in trials if each.decode_ms]
    logs = np.log([each.decode_ms or 1.0 for each in timed])
    cells, repeats = _groups([f"{each.arm} {each.prompt}" for each in timed])
    kept = repeats[cells] > 1
    blocks, sizes = _groups([f"{each.arm} {each.block}" for each in timed])
    rest = np.where(kept, logs - (np.bincount(cells, logs) / repeats)[cells], 0.0)
    rest -= np.where(kept, (np.bincount(blocks, rest) / sizes)[blocks], 0.0)
    freedom = int(kept.sum() - (repeats > 1).sum() - len(sizes) + len({t.arm for t in timed}))
    usual = float(np.median(np.abs(rest[kept]))) if kept.any() else 0.0
    if freedom < _LEAST_FREEDOM or not usual:
        return dict.fromkeys(KINDS, np.empty(0, np.uint32))
    rest = np.clip(rest / usual, -_OUTLIER, _OUTLIER)
    return {kind: _stored(freedom, map(key, timed), rest) for kind, key in KINDS.items()}


def _groups(names: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of each name's group, and the size of each group."""
    _, groups, sizes = np.unique(
        np.array(names, dtype=str), return_inverse=True, return_counts=True
    )
    return groups.astype(np.int64), sizes.astype(np.int64)


def _stored(freedom: int, keys: Iterator[str], rest: NDArray[np.float64]) -> NDArray[np.uint32]:
    hashed = np.fromiter((zlib.crc32(key.encode()) for key in keys), np.int64)
    signs = np.where(hashed & 0x10000, 1.0, -1.0)
    numbers = np.bincount(hashed % _NUMBERS, rest * signs, minlength=_NUMBERS)
    scaled = np.rint(numbers / max(float(np.abs(numbers).max()), 1e-9) * _MOST) + _MIDDLE
    return np.concatenate([[freedom], scaled]).astype(np.uint32)


@dataclass(frozen=True)
class ScatterIndex:
    """The patterns of one kind in a corpus: a row of length 1 for each submission."""

    rows: NDArray[np.float32]
    freedom: NDArray[np.int64]
    patterns: Sequence[bytes]

    @classmethod
    def of(cls, patterns: Sequence[NDArray[np.uint32]]) -> Self:
        none = np.full(_NUMBERS + 1, _MIDDLE, np.uint32)
        found = np.array([each if len(each) else none for each in patterns], np.float32)
        found = found.reshape(-1, _NUMBERS + 1)
        rows = found[:, 1:] - _MIDDLE
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.maximum(lengths, 1.0)
        return cls(rows, found[:, 0].astype(np.int64), [each.tobytes() for each in patterns])

    @cached_property
    def _alike(self) -> dict[bytes, tuple[NDArray[np.float32], NDArray[np.intp]]]:
        """The row of each pattern, and the positions of similar rows, from few products."""
        found: dict[bytes, tuple[NDArray[np.float32], NDArray[np.intp]]] = {}
        for start in range(0, len(self.rows), _AT_ONCE):
            some = self.rows[start : start + _AT_ONCE]
            near = map(np.flatnonzero, some @ self.rows.T >= _COPIED["scatter"])
            found |= zip(self.patterns[start:], zip(some, near, strict=True), strict=False)
        return found

    def copies(self, own: NDArray[np.uint32]) -> Iterator[tuple[int, int, int]]:
        """The submissions whose scatter agrees with `own` more than chance explains.

        Yields each one's position, and its correlation as a number of 100 parts. Chance is judged
        by Fisher's transformation of the correlation (Biometrika 10, 1915, 507-521).
        """
        if not len(own):
            return
        mine, near = self._alike.get(own.tobytes(), (None, None))
        if mine is None or near is None:
            (mine,) = ScatterIndex.of([own]).rows
            near = np.flatnonzero(self.rows @ mine >= _COPIED["scatter"])
        correlation = np.minimum(self.rows[near] @ mine, 0.999999)  # rounded
        free = np.sqrt(np.maximum(np.minimum(self.freedom[near], int(own[0])) - 3, 0))
        unlikely = np.arctanh(correlation) * free >= _COPIED["deviations"]
        for position, shared in zip(near[unlikely], correlation[unlikely], strict=True):
            yield int(position), int(100 * shared), 100
