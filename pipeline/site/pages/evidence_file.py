"""Write the map's figures as one file that ships with the program: `answers/evidence.json`."""

import re
from collections.abc import Iterable, Iterator

import duckdb
import msgspec

from answers.evidence import PairFigure
from answers.machines import device_key
from answers.names import read_model
from answers.presets import preset_named
from pipeline.site.pages.model import Asset
from pipeline.site.rows import Row, read

PATH = "assets/evidence.json"
COUNT = re.compile(r"(?:(\d+) \N{MULTIPLICATION SIGN} )?(.+)")


def evidence_file(found: Iterable[PairFigure]) -> Asset:
    lines = b",\n".join(map(msgspec.json.encode, found))
    return Asset(path=PATH, data=b"[\n" + lines + b"\n]\n")


def pairs(connection: duckdb.DuckDBPyConnection) -> Iterator[PairFigure]:
    """Yield the figures of the map, each with the keys by which questions find it."""
    for row in read(connection, "evidence"):
        card, cards = _card(row)
        yield PairFigure(
            device=row.device,
            name=row.device_label,
            target=row.target,
            target_name=row.target_label,
            card=card,
            cards=cards,
            on_cpu=row.on_cpu,
            gib=row.vram_gib,
            model=read_model(row.target_label).slug,
            method=row.method,
            task=row.task,
            tier=row.tier,
            people=row.people,
            speedup=row.speedup,
            least=row.least,
            most=row.most,
            quantisation=row.of_quantisation,
            baseline_tps=row.baseline_tps,
            tps=row.tps,
            rated=row.rated,
            low=row.interval_low,
            high=row.interval_high,
            depth=row.depth,
            depths=tuple(row.depths),
            draft=_draft(row.draft_label),
            quantisations=tuple(row.quantisations),
            engines=tuple(row.engines),
            sources=tuple(row.all_sources),
            offload=row.offload,
            sure=row.sure,
        )


def _draft(label: str | None) -> str | None:
    """A draft's name: its preset's if one is known, else its label."""
    preset = preset_named(label) if label else None
    return preset.name if preset else label


def _card(row: Row) -> tuple[str, int]:
    """A device's key and its number of cards; for unlike cards, all their keys in one string."""
    if row.on_cpu:
        return device_key(row.device_label, on_cpu=True), 1
    found, total = [], 0
    for part in row.device_label.split(" + "):
        count, name = COUNT.fullmatch(part).groups()  # type: ignore[union-attr]
        found.append(device_key(name))
        total += int(count or 1)
    return " + ".join(sorted(set(found))), total
