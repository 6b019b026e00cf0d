"""What is to be expected of a machine, a model and a task? The page of the advisor."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import duckdb
import orjson

from pipeline.site.advice.answer import answers, key
from pipeline.site.advice.model import Advice, Knowledge, KnownDevice, KnownModel, Question
from pipeline.site.pages.advisor_knowledge import knowledge
from pipeline.site.pages.environment import render
from pipeline.site.pages.model import Asset, Page, Site
from schemas.vocabulary import SIZES

SHOWN = 12  # choices in the answer that is there without JavaScript
# What can be asked about before anybody has measured it; "not measured" is an answer too.
USUAL_GB = (4, 6, 8, 10, 12, 16, 20, 24, 32, 48)
LEVELS = {
    "cost-pair": "the same models on this device",
    "cost-draft": "the same models on other devices through this backend",
    "cost-device": "models of this size on this device",
    "cost-memory": "models of this size on devices with as much memory",
    "cost-backend": "models of this size on other devices through this backend",
    "yield-pair": "the same models on this task",
    "yield-method": "other models on this task, same method and depth",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The question that the page opens with, and its answers."""

    device: KnownDevice
    model: KnownModel
    backend: str
    task: str
    answers: tuple[Advice, ...]


def advisor(connection: duckdb.DuckDBPyConnection, site: Site) -> Iterator[Page | Asset]:
    """The page and the file that it computes with."""
    known = knowledge(connection)
    data = orjson.dumps(known, option=orjson.OPT_SORT_KEYS)
    name = hashlib.sha256(data).hexdigest()[:12]
    file = Asset(path=f"assets/advisor/{name}.json", data=data)
    yield file
    first = opening(known)
    yield render(
        "advisor.md.jinja",
        path="advisor.md",
        site=site,
        known=known,
        knowledge_path=file.path,
        levels=LEVELS,
        opening=first,
        methods=tuple({choice.method: choice.label for choice in known.choices}.items()),
        memories=sorted({*USUAL_GB, *(d.memory for d in known.devices if d.memory)}),
        sizes=tuple(enumerate(size.label for size in SIZES.values() if not size.unknown)),
        error_rows=tuple((name.split("|"), error) for name, error in known.errors.items() if name),
        overall=known.errors.get(""),
    )


def opening(known: Knowledge) -> Opening | None:
    """The first device that a model was measured on, with that model and the first task."""
    for device in known.devices:
        for model in known.models:
            for backend in device.backends:
                place = key(device.id, backend, model.target, model.quantisation)
                if any(name.startswith(f"{place}|") for name in known.measured):
                    return _opened(known, device, model, backend)
    return None


def _opened(known: Knowledge, device: KnownDevice, model: KnownModel, backend: str) -> Opening:
    task = known.tasks[0][0]
    question = Question(
        backend=backend,
        size=model.size,
        task=task,
        device=device.id,
        memory=device.memory,
        model=model,
    )
    found = answers(known, question)[:SHOWN]
    return Opening(device=device, model=model, backend=backend, task=task, answers=found)
