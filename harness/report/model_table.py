"""Shows the named models: whether each is on disk and fits, and which can draft for which."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import zip_longest
from textwrap import fill

from rich.console import Console
from rich.text import Text

from harness import PROGRAM
from harness.models.overview import ModelEntry, ModelsOverview
from harness.models.resolve import names
from harness.report import words
from planner.presets import Preset, presets
from schemas.vocabulary import say

_MB, _GB = 1_000_000, 1_000_000_000
_UNKNOWN = "?"
_ANY_WIDTH = 10_000


def show(models: ModelsOverview, console: Console) -> None:
    _print(_models(models), console, right={2, 3}, below=["", *map(_below, models.models)])
    console.print()
    _print(_pairs(models), console, right={3})
    for note in dict.fromkeys((p.pair.target, p.pair.note) for p in models.pairs if p.pair.note):
        console.print(": ".join(note), markup=False, soft_wrap=True)
    if models.files:
        console.print("\nModel files of other programs on this disk (name each by its path):")
    for file in models.files:
        name = "" if file.path.endswith(file.name) else f"{file.name}: "
        shown = f"{file.bytes / _GB:5.1f} GB  {file.of:15}  {name}{file.path}"
        console.print(shown, markup=False, soft_wrap=True)
    console.print()
    console.print(fill(_legend(models), 80), markup=False, soft_wrap=True)
    console.print(
        f"`{PROGRAM} models get MODEL` fetches a model and its draft.",
        markup=False,
        soft_wrap=True,
    )
    others = ", ".join(name for name in names() if name not in presets())
    more = f"Other known models, which need a quantisation, such as qwen3-8b:Q8_0: {others}."
    console.print(fill(more, 80), markup=False, soft_wrap=True)


def _legend(models: ModelsOverview) -> str:
    memory = models.memory
    return (
        f"fits: yes if all buffers with a context of {models.context_tokens} tokens are sure to "
        f"fit into {memory.free_mib / 1024:.1f} GiB of free memory ({memory.name}), partly if "
        "some layers or experts must be in main memory. ~: estimated. ?: unknown."
    )


def _models(found: ModelsOverview) -> Iterator[tuple[str, ...]]:
    yield "model", "quant", "size", "needs", "here", "licence", "fits"
    for entry in found.models:
        preset = entry.preset
        yield (
            preset.name,
            preset.quantisation,
            _size(entry),
            _needs(entry.needed_bytes, preset),
            "yes" if entry.on_disk else "",
            preset.licence or _UNKNOWN,
            entry.fits or _UNKNOWN,
        )


def _below(entry: ModelEntry) -> str:
    """Return a model's repository, and a method by which it drafts without a second file."""
    method = entry.preset.method
    return ", ".join(filter(None, (entry.preset.repository, method and f"--method {method}")))


def _pairs(found: ModelsOverview) -> Iterator[tuple[str, ...]]:
    yield "target", "draft", "tokenizer", "needs", "fits"
    for each in found.pairs:
        pair = each.pair
        needs = _needs(each.needed_bytes, presets().get(pair.draft))
        word = "ok" if pair.fits else "no"
        yield pair.target, pair.draft, word, needs, each.fits or _UNKNOWN


def _print(
    rows: Iterable[tuple[str, ...]],
    console: Console,
    *,
    right: Collection[int],
    below: Sequence[str] = (),
) -> None:
    """Print a table with bold headings, with each line of `below` under its row."""
    head, *cells = [tuple(map(Text, row)) for row in rows]
    for heading in head:
        heading.stylize("bold")
    aligned = words.aligned([head, *cells], right=right, width=_ANY_WIDTH)
    for line, more in zip_longest(aligned, below, fillvalue=""):
        console.print(line, soft_wrap=True)
        if more:
            console.print(Text(f" {more}"), soft_wrap=True)


def _needs(needed_bytes: int | None, draft: Preset | None) -> str:
    about = "~" if draft is not None and draft.head else ""
    return about + say.size(needed_bytes) if needed_bytes else _UNKNOWN


def _size(entry: ModelEntry) -> str:
    if entry.file_bytes is not None:
        return say.size(entry.file_bytes)
    if entry.preset.size_mb is None:
        return _UNKNOWN
    about = "~" if entry.preset.size_from in ("elsewhere", "computed") else ""
    return about + say.size(entry.preset.size_mb * _MB)
