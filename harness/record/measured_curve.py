"""A measured curve with its model and device, and the checks that it suits a planned model."""

import math
from dataclasses import dataclass

from estimates.roofline import devices
from harness.errors import BadInputError
from planner.machines import Computer
from planner.names import card_key, read_model
from planner.rounds import Curve
from planner.shapes import shape_of
from planner.speed import weights_per_token
from planner.ways import PlannedModel
from schemas.submission import VerificationProbe

_GIB = 1024**3
# Tolerances of size: a file's size is exact, but one model name covers quantisations of similar
# sizes.
_SAME_FILE, _SAME_NAME = 0.02, 0.15
_TO_GB_PER_S = 1e-6  # from bytes per millisecond
_FASTEST_GB_PER_S = 20_000  # more than twice the fastest card's


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCurve:
    """Step times of a model.

    `device` is the GPU's name, empty for a CPU, `None` if unknown. Error messages cite `file`;
    results cite `source`, the tool and the machine.
    """

    probe: VerificationProbe
    model: str
    architecture: str | None
    kv_type: str
    file_bytes: int | None
    device: str | None
    source: str
    file: str

    def curve_for(
        self, name: str, target: PlannedModel, computer: Computer | None, kv_type: str = "f16"
    ) -> Curve:
        """Return the curve for a planned model, on `computer` or, for `None`, on any device.

        Raises `BadInputError` if the curve belongs to a different model, cache or machine.
        """
        if self.kv_type != kv_type:
            raise BadInputError(
                f"{self.file}: measured with a KV cache in {self.kv_type}, but the plan has "
                f"{kv_type}; give --kv-type {self.kv_type}"
            )
        if computer is not None:
            self._require_card(computer)
        if self.probe.widths[0] != 1:
            raise BadInputError(
                f"{self.file}: the curve has no step of one token, so wider steps have no "
                "reference; measure widths 1, 2 and so on"
            )
        if len(self.probe.widths) == 1:
            raise BadInputError(
                f"{self.file}: all steps have the same width; measure wider steps too (-p 1,2,3,4)"
            )
        self._require_model(name, target)
        gb_per_s = weights_per_token(target.facts) / self.probe.step_ms_median[0] * _TO_GB_PER_S
        if gb_per_s > _FASTEST_GB_PER_S:
            raise BadInputError(
                f"{self.file}: a step of {self.probe.step_ms_median[0]:.3g} ms would read "
                f"{gb_per_s:,.0f} GB/s, which no memory does; check the unit of the times"
            )
        return Curve(probe=self.probe, source=self.source)

    def _require_model(self, name: str, target: PlannedModel) -> None:
        shapes = (shape_of(read_model(self.model).slug), target.shape)
        names = [shape.name for shape in shapes if shape]
        # Some tools report the size of the weights, others that of the file including its header.
        expected = target.facts.model_bytes
        sizes = [expected, *([target.path.stat().st_size] if target.path else [])]
        most = max(_SAME_FILE if target.path else _SAME_NAME, target.facts.weights_error or 0.0)
        off = [abs(math.log(self.file_bytes / size)) for size in sizes if self.file_bytes and size]
        kinds = {each for each in (self.architecture, target.facts.architecture) if each}
        if len(set(names)) > 1 or len(kinds) > 1 or min(off, default=0.0) > most:
            size = f" ({self.file_bytes / _GIB:.2f} GiB)" if self.file_bytes else ""
            raise BadInputError(
                f"{self.file}: a curve of {self.model}{size}, not of {name} "
                f"({expected / _GIB:.2f} GiB); measure this model: python -m harness probe {name}"
            )

    def _require_card(self, computer: Computer) -> None:
        if self.device is None:
            return
        here = {memory.name: memory.card for memory in computer.devices}
        key = card_key(self.device)
        known = all(card in devices().names for card in here.values())
        if not self.device and here:
            message = f"{self.file}: measured on a CPU; give --gpu none to plan for a CPU"
        elif self.device and (not here or (key and key not in here.values() and known)):
            message = (
                f"{self.file}: measured on {self.device}, but the plan is for "
                f"{' + '.join(here) or 'a CPU'}; give --gpu '{self.device}' to plan for that card"
            )
        else:
            return
        raise BadInputError(message)
