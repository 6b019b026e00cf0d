"""`draftmap methods`: list the ways of drafting, their runners and their default sizes."""

from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from harness.campaign.methods import METHODS, MethodKind, signature
from harness.cli import console
from harness.runners import OFFERED
from schemas import vocabulary
from schemas.codec import Json


@console.reports_errors
def methods(
    *,
    json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    if json:
        console.print_json({name: _as_json(name, kind) for name, kind in METHODS.items()})
    else:
        _print(console.result_console())


def _as_json(name: str, kind: MethodKind) -> Json:
    return {
        "summary": kind.summary,
        "options": dict(kind.defaults),
        "runners": list(_runners_of(name)),
    }


def _runners_of(method: str) -> tuple[str, ...]:
    return tuple(name for name, kind in OFFERED.items() if method in kind.methods)


def _print(console: Console) -> None:
    for name, kind in METHODS.items():
        console.print(Text(signature(name), style="bold"))
        console.print(Text(f"  {kind.summary}"))
        unset = [key for key, value in kind.defaults.items() if value is None]
        needs = "; needs --draft" if vocabulary.METHODS[name].draft == "required" else ""
        also = f"; also {', '.join(unset)}" if unset else ""
        console.print(Text(f"  {', '.join(_runners_of(name))}{needs}{also}", style="dim"))
    console.print()
    console.print(Text("Change any size: --method draft-model:n_max=6,p_min=0.5"))
