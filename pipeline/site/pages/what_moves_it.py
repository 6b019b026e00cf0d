"""Write the page *What moves it*: one chart for each factor that changes a speedup."""

import duckdb
from markupsafe import Markup

from pipeline.site.charts import draw
from pipeline.site.pages import losses, reference_models, strips
from pipeline.site.pages.model import Page, Site
from pipeline.site.pages.template_environment import environment, render
from pipeline.site.rows import read
from schemas.vocabulary import REFERENCE_MODELS
from schemas.vocabulary.documents import document

PATH = "what-moves-it.md"
FEWEST = 3  # the number of figures that a chart needs


def moves(connection: duckdb.DuckDBPyConnection, site: Site) -> Page:
    """The page: charts in `moves.toml` with enough figures, and commands to measure the rest."""
    url = site.link_from("what-moves-it/")
    sections = [
        {
            **section,
            "id": name,
            "words": Markup(environment().from_string(section["words"]).render(url=url)),  # noqa: S704 - our own prose
            "figure": draw(connection, section["chart"], site.cache),
        }
        for name, section in document("moves", "pipeline.site").items()
    ]
    pairs = read(connection, "pairs_by_method")
    rows = strips.default_rows(connection)
    of_the_first = [row for row in rows if row.target == next(iter(REFERENCE_MODELS))]
    shown = [section for section in sections if len(section["figure"].table.rows) >= FEWEST]
    return render(
        "what-moves-it.md.jinja",
        path=PATH,
        site=site,
        figures=tuple(section["figure"] for section in shown),
        sections=shown,
        missing=[section for section in sections if section not in shown],
        losses=losses.comparisons(pairs),
        pairs=len(pairs),
        slower=sum(map(losses.is_slower, pairs)),
        machines=reference_models.machines(rows),
        models=tuple(REFERENCE_MODELS.values()),
        finding=strips.finding(of_the_first, "device") if of_the_first else "",
        sources=read(connection, "sources"),
    )
