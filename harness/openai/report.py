"""Report the engine and settings of a server, as far as it states them."""

from dataclasses import replace

from harness.campaign.axis_options import recorded
from harness.campaign.model import Campaign
from harness.openai.listed_models import Served
from harness.openai.server_identity import ServerIdentity
from harness.runners.base import EngineReport
from schemas.rig import Backend
from schemas.submission import Device, Engine


def report_on(
    identity: ServerIdentity,
    served: Served,
    campaign: Campaign,
    where: tuple[Backend, tuple[Device, ...] | None],
) -> EngineReport:
    """Engine and settings; `where` are its backend and its devices."""
    backend, devices = where
    return EngineReport(
        engine=Engine(
            runner="openai",
            name=identity.shown_name,
            version=identity.shown_version,  # a measured campaign must name one
            commit=identity.commit,
            build_number=identity.build_number,
            backend=backend,
            devices=devices,
        ),
        settings=replace(
            recorded(campaign.settings, "openai"), context_tokens=served.context_tokens
        ),
    )
