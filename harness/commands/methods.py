"""`draftmap methods`: list the drafting methods, their runners and their default parameters."""

from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from harness import console
from harness.campaign.method_parser import METHODS
from schemas.codec import Json
from schemas.vocabulary import RUNNERS
from schemas.vocabulary.method_table import MethodEntry


@console.reports_errors
def methods(
    *,
    json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    if json:
        listed: Json = {
            name: {
                "summary": entry.summary,
                "options": {**entry.defaults, **dict.fromkeys(entry.optional)},
                "runners": list(_runners_of(entry)),
            }
            for name, entry in METHODS.items()
        }
        console.print_json({"methods": listed})
        return
    screen = console.result_console()
    for entry in METHODS.values():
        screen.print(Text(signature(entry), style="bold"))
        screen.print(Padding(Text(entry.summary), (0, 0, 0, 2)))
        needs = "; needs --draft" if entry.draft == "required" else ""
        also = f"; also {', '.join(entry.optional)}" if entry.optional else ""
        screen.print(Text(f"  {', '.join(_runners_of(entry))}{needs}{also}", style="dim"))
    screen.print()
    screen.print(Text("To change a size: --method draft-model:n_max=6,p_min=0.5"))


def signature(entry: MethodEntry) -> str:
    """Return a method with its defaults: `prompt-lookup:n_max=8,ngram_min=2,ngram_max=4`."""
    sizes = ",".join(f"{key}={value:g}" for key, value in entry.defaults.items())
    return f"{entry.id}:{sizes}" if sizes else entry.id


def _runners_of(entry: MethodEntry) -> tuple[str, ...]:
    return tuple(name for name, kind in RUNNERS.items() if entry.id in kind.methods)
