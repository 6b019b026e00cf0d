"""Let the engine write a few tokens: a build that does not fit the processor crashes only then."""

from harness.campaign.model import Campaign
from harness.doctor.check import Check, fail, ok
from harness.errors import MachineError
from harness.runners.base import Failure, Runner

_NAME = "Decode"


def decode(runner: Runner, campaign: Campaign, replacement: str) -> Check:
    """Load the target and answer the warm-up prompt; `replacement` is another build to take."""
    remedy = (
        "Name another model with --model. If none works, this build does not fit this machine: "
        f"{replacement}"
    )
    try:
        session = runner(campaign)
    except MachineError as error:
        return fail(_NAME, str(error).partition("; try: ")[0], remedy)
    try:
        prepared = session.prepare(campaign.arms[0].id)
    finally:
        session.close()
    if isinstance(prepared, Failure):
        return fail(_NAME, prepared.detail, remedy)
    written = prepared.warm_up
    rate = 1000 * (written.output_tokens - 1) / written.decode_ms
    return ok(_NAME, f"{rate:.1f} tokens/s with {campaign.target.model.name}")
