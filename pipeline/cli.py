"""The command line of the pipeline: `gate`, `difference`, `build`."""

from pathlib import Path
from typing import Annotated

import typer

from pipeline.collection.discover import require_writable
from pipeline.errors import MissingFileError, ending
from pipeline.intake import comment, reply
from pipeline.intake.cli import gate_command
from pipeline.site.addresses import site_address

app = typer.Typer(
    help="Judge a pull request, and build the site.",
    epilog="Exit codes: 0 done, or accepted. 1 the input is wrong: a file, a path, a result. "
    "2 the command line is wrong. 3 the machine or the pipeline itself fails.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.command("gate")(gate_command)

RESULTS = Path("results")
SITE = Path("build/site")
NO_ADDRESS = "there is no --site-url, so feeds get relative links"
OUTPUT = (
    "Folder for the built site. FOLDER, and FOLDER-source next to it, are emptied first if an "
    "earlier build wrote them."
)
CACHE = "Cache folder for slow computations; the cache does not change the site."
JOBS = "Number of parallel processes."


@app.command("difference")
def difference_command(
    folder: Annotated[Path, typer.Argument(help="Folder with the verdict.json of a check.")],
    *,
    clone: Annotated[Path, typer.Option(help="Clone that contains both revisions.")] = Path(),
    of_form: Annotated[
        bool, typer.Option(help="Reply to an issue form; a refusal has exit code 0, too.")
    ] = False,
) -> None:
    """Build the site's tables with and without the accepted files. Exit code 1: refused."""
    with ending():
        from pipeline.difference import with_difference  # noqa: PLC0415 - as in `build`

        path = folder / reply.VERDICT
        before = reply.from_file(path)
        path.unlink()  # a build that does not end must leave no acceptance
        answer = with_difference(clone, before)
        comment.write(answer, folder, of_form=of_form)
    typer.echo(comment.body(answer, of_form=of_form))
    raise typer.Exit(1 if answer.decision == "rejected" and not of_form else 0)


@app.command("build")
def build_command(
    *,
    results: Annotated[
        Path, typer.Option(help="Folder with community/ and published/.", metavar="FOLDER")
    ] = RESULTS,
    extra: Annotated[
        list[Path] | None,
        typer.Option(
            help="A file or folder to show as a local preview. Can be repeated.", metavar="PATH"
        ),
    ] = None,
    output: Annotated[Path, typer.Option(help=OUTPUT, metavar="FOLDER")] = SITE,
    site_url: Annotated[
        str | None, typer.Option(help="Address of the published site.", metavar="URL")
    ] = None,
    cache: Annotated[Path | None, typer.Option(help=CACHE, metavar="FOLDER")] = None,
    jobs: Annotated[int, typer.Option(min=1, help=JOBS, metavar="N")] = 1,
) -> None:
    """Build the site from the results and print its folder."""
    with ending():
        from pipeline.site.build import build  # noqa: PLC0415 - the gate installs no charts and pages

        if not results.is_dir():  # a typo must not look like no results
            raise MissingFileError(results)
        for folder in filter(None, (output, cache)):
            require_writable(folder)
        site = build(
            results=results,
            output=output,
            extra=tuple(extra or ()),
            site_url=site_url,
            cache=cache,
            jobs=jobs,
        )
    if site_address(site_url) is None:
        typer.echo(NO_ADDRESS, err=True)
    typer.echo(site)
