"""`draftmap doctor`: check everything that a run needs."""

from typing import Annotated

import typer

from harness import console
from harness.doctor.check import Check
from harness.doctor.examine import examine
from harness.errors import NOT_MEASURED
from schemas.codec import encode

_MARKS = {"ok": ("ok", "green"), "warn": ("warn", "yellow"), "fail": ("FAIL", "red")}


@console.reports_errors
def doctor(
    *,
    model: Annotated[
        str | None,
        typer.Option(
            help="Test the engine with this model. Default: the built-in model, which is "
            "downloaded once (98 MB).",
            metavar="MODEL",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False,
) -> None:
    checks = []
    for check in examine(model=model, say=console.say):
        checks.append(check)
        if not json:
            _print(check)
    if json:
        console.print_json({"checks": encode(checks)})
    if any(check.status == "fail" for check in checks):
        raise typer.Exit(NOT_MEASURED)


def _print(check: Check) -> None:
    mark, style = _MARKS[check.status]
    screen = console.result_console()
    screen.print(f"[{style}]{mark:<5}[/] {check.name:<10} ", end="")
    screen.print(check.found, markup=False, soft_wrap=True)
    if check.remedy:
        # Commands are not wrapped, so that they can be copied whole.
        screen.print(f"      {check.remedy}", markup=False, soft_wrap=True)
