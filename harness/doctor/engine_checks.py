"""Check an engine by letting it decode a few tokens."""

from harness.campaign.model import Campaign
from harness.doctor.check import Check
from harness.errors import MachineError
from harness.run.preflight import REINSTALL
from harness.runners.base import Failure, Runner

PORTABLE_REINSTALL = f'CMAKE_ARGS="-DGGML_NATIVE=OFF" {REINSTALL}'


def decode(runner: Runner, campaign: Campaign, replacement: str) -> Check:
    """Let the engine write a few tokens: a build for a different CPU crashes only when it decodes.

    `replacement` is the advice for installing a different build.
    """
    remedy = (
        "Name another model with --target. If no model works, this build does not suit this "
        f"machine: {replacement}"
    )
    try:
        session = runner(campaign)
    except MachineError as error:
        return Check("Decode", "fail", str(error).partition("; try: ")[0], remedy)
    try:
        prepared = session.prepare(campaign.arms[0].id)
    finally:
        session.close()
    if isinstance(prepared, Failure):
        return Check("Decode", "fail", prepared.detail, remedy)
    written = prepared.warm_up
    rate = 1000 * (written.output_tokens - 1) / written.decode_ms
    return Check("Decode", "ok", f"{rate:.1f} tokens/s with {campaign.target.model.name}")
