"""Compare machines by their figures for the same few reference models."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.site.pages.strips import Strip, strip
from pipeline.site.rows import Row, grouped
from schemas.vocabulary import COMMON_DEVICES, REFERENCE_MODELS


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A device with its figure for each reference model; `None` for a model without a figure."""

    device: str
    label: str
    figures: tuple[Strip | None, ...]

    @property
    def known(self) -> int:
        """The number of reference models for which the device has a figure."""
        return sum(each is not None for each in self.figures)


def machines(rows: Iterable[Row]) -> Sequence[Machine]:
    """The devices with figures for reference models: those with most figures first."""
    of_models = (row for row in rows if row.target in REFERENCE_MODELS)
    by_device = grouped(of_models, lambda row: row.device).values()
    return [
        _machine(own)
        for own in sorted(
            by_device,
            key=lambda own: (
                -len(own),
                own[0].device_label not in COMMON_DEVICES,
                -sum(row.people for row in own),
                own[0].device_label,
            ),
        )
    ]


def _machine(rows: Sequence[Row]) -> Machine:
    by_model = {row.target: strip(row) for row in rows}
    return Machine(
        device=rows[0].device,
        label=rows[0].device_label,
        figures=tuple(map(by_model.get, REFERENCE_MODELS)),
    )
