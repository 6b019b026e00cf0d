"""What a wider step and a drafted token cost: a curve, and where each of the two was timed."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from answers.curves import Curve, Ranged
from harness.acceptance.options import AcceptanceOptions
from harness.curves.kept import device_of, kept_for
from harness.curves.read import read
from harness.errors import BadInputError
from harness.machine.computer import computer_of
from harness.models.model_facts import find


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """A curve of the target, and milliseconds of a drafted token on the same machine.

    `drafting_ms` is `None` where the draft is to be timed here; `elsewhere` names the device of the
    curve if that is another one.
    """

    curve: Curve
    drafting_ms: float | None
    elsewhere: str | None = None

    def drafting(self, measured_ms: float) -> Ranged:
        """A drafted token in plain steps of the target."""
        share = (self.drafting_ms or measured_ms) / self.curve.step_ms
        return Ranged(estimate=share, low=share, high=share)


def prices_of(
    asked: AcceptanceOptions, *, file: Path | None, name: str | None, say: Callable[[str], None]
) -> Prices | None:
    """The curve that was given, else what `probe` kept of the target's file.

    Raises `BadInputError` for a curve of another target, or of one that is not named.
    """
    here = computer_of()
    given, drafting_ms = asked.curve, asked.drafting_ms
    found = read(given) if given else kept_for(file, here) if file else None
    target = str(file) if file else name
    if found is None:
        return None
    if target is None:
        message = f"{given}: name the target, so that the curve can be known to be of it"
        raise BadInputError(message)
    curve = found.curve_of(name or target, find(target, say=say))
    device = "a processor" if found.device == "" else found.device
    ours = device_of(here) if here.devices else "a processor"
    elsewhere = device if device not in (None, ours) and drafting_ms is None else None
    return Prices(curve=curve, drafting_ms=drafting_ms, elsewhere=elsewhere)
