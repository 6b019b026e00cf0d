"""The page of the advisor, and one file with everything that it was fitted to."""

import hashlib
from collections.abc import Iterator, Mapping
from itertools import product

import duckdb
import orjson

from pipeline.site.advice import AdviceQuery, Knowledge, answers, key
from pipeline.site.pages.environment import render
from pipeline.site.pages.knowledge import knowledge
from pipeline.site.pages.machine import machine_file
from pipeline.site.pages.model import Asset, Page, Site
from schemas.vocabulary import SIZES

SHOWN = 12  # choices in the answer that is there without JavaScript
# What can be asked about before anybody has measured it; "not measured" is an answer too.
USUAL_GB = (2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48)


def advisor(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page | Asset]:
    known = knowledge(connection)
    data = orjson.dumps(known, option=orjson.OPT_SORT_KEYS)
    name = hashlib.sha256(data).hexdigest()[:12]
    file = Asset(path=f"assets/advisor/{name}.json", data=data)
    yield file
    machine = machine_file(connection, file.path)
    yield machine
    yield render(
        "advisor.md.jinja",
        path="advisor.md",
        site=site,
        known=known,
        knowledge_path=file.path,
        machine_path=machine.path,
        opening=opening(known),
        methods=tuple({choice.method: choice.label for choice in known.choices}.items()),
        memories=sorted({*USUAL_GB, *(d.memory for d in known.devices if d.memory)}),
        sizes=tuple(enumerate(size.label for size in SIZES.values() if not size.unknown)),
        error_rows=tuple((name.split("|"), error) for name, error in known.errors.items() if name),
        overall=known.errors.get(""),
    )


def opening(known: Knowledge) -> Mapping[str, object] | None:
    """The question that the page opens with, and its answers."""
    for device, model in product(known.devices, known.models):
        for backend in device.backends:
            place = key(device.id, backend, model.target, model.quantisation)
            if any(name.startswith(f"{place}|") for name in known.measured):
                question = AdviceQuery(
                    backend=backend,
                    size=model.size,
                    task=known.tasks[0][0],
                    device=device.id,
                    memory=device.memory,
                    model=model,
                )
                return {
                    "device": device,
                    "model": model,
                    "backend": backend,
                    "task": question.task,
                    "answers": answers(known, question)[:SHOWN],
                }
    return None
