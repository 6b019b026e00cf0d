"""`draftmap models`: which models can be named, and which of them are on this disk?"""

from typing import Annotated

import typer
from rich.table import Table

from harness.cli import talk
from harness.models.presets import Preset, presets
from harness.models.resolve import on_disk
from schemas.codec import Json


@talk.reports_errors
def models(
    *,
    json: Annotated[bool, typer.Option("--json", help="Print the list for machines.")] = False,
) -> None:
    """List the presets for `--target` and `--draft`, and the draft that fits each target."""
    entries = [(preset, on_disk(preset)) for preset in presets().values()]
    if json:
        talk.print_json([_entry(preset, here=here) for preset, here in entries])
        return
    table = Table(box=None, padding=(0, 1), collapse_padding=True, pad_edge=False)
    for heading in ("preset", "quantisation", "size", "on disk", "draft that fits"):
        table.add_column(heading, no_wrap=True)
    for preset, here in entries:
        size = f"{preset.size_mb / 1000:.1f} GB"
        row = (preset.name, preset.quantisation, size, "yes" if here else "", preset.draft or "")
        table.add_row(*row)
    talk.result_console().print(table)


def _entry(preset: Preset, *, here: bool) -> Json:
    return {
        "name": preset.name,
        "model": preset.model,
        "quantisation": preset.quantisation,
        "size_mb": preset.size_mb,
        "repository": preset.repository,
        "vocabulary": preset.vocabulary,
        "draft": preset.draft,
        "on_disk": here,
    }
