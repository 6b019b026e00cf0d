"""What do search engines for data sets read? A schema.org Dataset as JSON-LD."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pipeline.data.datapackage import MEDIA_TYPES
from pipeline.data.export import ExportedFile
from pipeline.site.pages.model import Site

LICENCE = "https://creativecommons.org/licenses/by/4.0/"
KEYWORDS = (
    "speculative decoding",
    "large language models",
    "local inference",
    "benchmark",
    "llama.cpp",
)
MEASURED = (
    "speedup of decoding against no speculation",
    "tokens per round",
    "round cost in plain tokens",
    "acceptance rate",
    "cost of verification by width",
)


def dataset(
    files: Iterable[ExportedFile], site: Site, *, first: str | None, last: str | None
) -> dict[str, Any]:
    """The data set as a JSON value; `first` and `last` are the days of the measurements."""
    value: dict[str, Any] = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": "Draftmap",
        "description": (
            "Measurements of speculative decoding of local language models across machines,"
            " backends, models, methods and tasks: raw trials, estimates with intervals, failures."
        ),
        "license": LICENCE,
        "isAccessibleForFree": True,
        "creator": {"@type": "Organization", "name": "Draftmap contributors"},
        "keywords": list(KEYWORDS),
        "variableMeasured": list(MEASURED),
        "measurementTechnique": "paired trials in interleaved blocks, interval on log ratios",
        "distribution": [_download(file, site) for file in files if file.table],
    }
    if first and last:
        value |= {"temporalCoverage": f"{first}/{last}", "dateModified": last}
    if site.address:
        value |= {"url": f"{site.address}data/"}
    return value


def _download(file: ExportedFile, site: Site) -> dict[str, Any]:
    suffix = file.name.rpartition(".")[2]
    # Without the site's address a path from the page of the data, which lies in data/ itself.
    base = f"{site.address}data/" if site.address else ""
    return {
        "@type": "DataDownload",
        "name": file.name,
        "contentUrl": f"{base}{file.name}",
        "encodingFormat": MEDIA_TYPES[suffix],
        "contentSize": f"{file.bytes} B",
        "sha256": file.sha256,
    }
