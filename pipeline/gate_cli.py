"""What can one ask the gate on the command line? `python -m pipeline.gate_cli --base … --head …`.

A module of its own, so that judging a pull request installs neither an engine nor a database.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipeline import comment, gate, gate_neighbours, gate_report
from pipeline import report as verdict
from pipeline.errors import PipelineError
from pipeline.places import require_writable


def gate_command(  # noqa: PLR0913 - each option of the command is an argument
    *,
    base: Annotated[str, typer.Option(help="Revision that the pull request goes to.")],
    head: Annotated[str, typer.Option(help="Revision that it brings.")],
    repository: Annotated[Path, typer.Option(help="The clone that has both.")] = Path(),
    output: Annotated[
        Path | None, typer.Option(help="Folder for verdict.json and summary.md.")
    ] = None,
    author: Annotated[
        str | None, typer.Option(envvar="AUTHOR", help="Account that sends the results, if known.")
    ] = None,
    annotate: Annotated[bool, typer.Option(help="Print annotations for GitHub Actions.")] = False,
    step_summary: Annotated[
        Path | None,
        typer.Option(envvar="GITHUB_STEP_SUMMARY", help="File that the summary is added to."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the judgement as JSON.")] = False,
) -> None:
    """Judge the results that a pull request adds. Exit code 0: accepted, or none; 1: rejected."""
    try:
        if output is not None:
            require_writable(output)
        judgement = gate.judge(repository, base=base, head=head, author=author or None)
        report = gate_neighbours.report(repository, judgement)
    except PipelineError as error:
        typer.echo(error, err=True)
        raise typer.Exit(error.exit_code) from error
    _print(judgement, report, as_json=as_json, annotate=annotate)
    if output is not None:
        _write(report, output)
    if step_summary is not None:
        with step_summary.open("a", encoding="utf-8") as stream:
            stream.write(comment.body(report))
    raise typer.Exit(1 if judgement.decision == "rejected" else 0)


def _print(
    judgement: gate.Judgement, report: verdict.Report, *, as_json: bool, annotate: bool
) -> None:
    if as_json:
        typer.echo(verdict.to_bytes(report), nl=False)
    else:
        for line in gate_report.lines(judgement):
            typer.echo(line)
    if annotate:
        for line in gate_report.commands(judgement):
            typer.echo(line)
    typer.echo(gate_report.note(judgement), err=True)


def _write(report: verdict.Report, output: Path) -> None:
    output.mkdir(exist_ok=True)
    (output / "verdict.json").write_bytes(verdict.to_bytes(report))
    (output / "summary.md").write_text(comment.body(report), encoding="utf-8")


if __name__ == "__main__":
    typer.run(gate_command)
