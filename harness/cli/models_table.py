"""How do the models, the pairs and the comparison of two vocabularies look in a terminal?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from harness.vocabulary import FIRST_COMPARED

if TYPE_CHECKING:
    from rich.console import Console

    from harness.models.overview import ModelEntry, Overview
    from harness.vocabulary import Comparison

_GIB = 1024**3
_GB = 1_000_000_000
_MB_PER_GB = 1000
_UNKNOWN = "?"
_NAMES = {"kind": "kind", "bos": "BOS", "eos": "EOS", "size": "size", "texts": "texts"}


def show(found: Overview, console: Console) -> None:
    """The presets, then the pairs, then what the columns mean."""
    models = _table("model", "quant", "size", "here", "licence", "fits")
    for entry in found.models:
        preset = entry.preset
        name = preset.name if preset.repository is None else f"{preset.name}\n  {preset.repository}"
        models.add_row(
            name,
            preset.quantisation,
            _size(entry),
            "yes" if entry.on_disk else "",
            preset.licence or _UNKNOWN,
            entry.fits or _UNKNOWN,
        )
    console.print(models)
    pairs = _table("target", "draft", "tokenizer", "needs", "fits")
    for each in found.pairs:
        pair = each.pair
        needs = f"{each.needed_bytes / _GB:.1f} GB" if each.needed_bytes else _UNKNOWN
        word = "ok" if pair.fits else "no"
        pairs.add_row(pair.target, pair.draft, word, needs, each.fits or _UNKNOWN)
    console.print()
    console.print(pairs)
    console.print()
    memory = found.memory
    console.print(
        f"fits: weights and KV cache (f16) for {found.context_tokens} tokens, against the "
        f"{memory.total_mib / 1024:.1f} GiB of {memory.name}; tight: more than 90 % of it.\n"
        "~: not read from that repository itself. ?: unknown here.\n"
        "`python -m harness models get MODEL` fetches a model and its draft;\n"
        "`python -m harness models check TARGET DRAFT` compares two files that are here.",
        markup=False,
    )


def show_comparison(target: str, draft: str, compared: Comparison, console: Console) -> None:
    """Yes or no, each point of the rule, and the first ids that mean something else."""
    word = "Yes" if compared.fits else "No"
    verb = "can" if compared.fits else "cannot"
    console.print(
        f"{word}: {draft} {verb} draft for {target}.", markup=False, style="bold", soft_wrap=True
    )
    for point in compared.points:
        mark, style = ("ok", "green") if point.holds else ("NO", "red")
        console.print(f"  [{style}]{mark}[/] {_NAMES[point.name]:<6} ", end="")
        console.print(point.found, markup=False, soft_wrap=True)
    if not compared.differing:
        return
    more = compared.differing
    console.print(f"  {more} ids from {FIRST_COMPARED} up differ; the first:")
    for each in compared.differences:
        text = f"    {each.token}: target {each.target!r}, draft {each.draft!r}"
        console.print(text, markup=False, soft_wrap=True)


def _table(*headings: str) -> Table:
    table = Table(box=None, padding=(0, 1), collapse_padding=True, pad_edge=False)
    for heading in headings:
        table.add_column(heading, no_wrap=True, justify="right" if heading == "size" else "left")
    return table


def _size(entry: ModelEntry) -> str:
    if entry.file_bytes is not None:
        return _amount(entry.file_bytes / 1_000_000)
    if entry.preset.size_mb is None:
        return _UNKNOWN
    about = "~" if entry.preset.size_from in ("elsewhere", "computed") else ""
    return about + _amount(entry.preset.size_mb)


def _amount(size_mb: float) -> str:
    return f"{size_mb / _MB_PER_GB:.2f} GB" if size_mb >= _MB_PER_GB else f"{size_mb:.0f} MB"
