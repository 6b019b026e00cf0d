"""Which command lines would be started for a campaign? Asked before anything is loaded."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from harness.errors import BadInputError
from harness.runners.base import Failure
from harness.runners.server.binary import find
from harness.runners.server.launch import Launcher

if TYPE_CHECKING:
    from harness.model import ArmPlan, Campaign

_ANY_PORT = 0


def command_lines(campaign: Campaign, path: str | None) -> tuple[str, ...]:
    """One line for each arm; the port, 0 here, is a free one. Raises `BadInputError`."""
    binary = find(path)
    launcher = Launcher(campaign=campaign, binary=binary, startup_limit_s=0)
    return tuple(
        shlex.join((str(binary.path), *_arguments(launcher, arm))) for arm in campaign.arms
    )


def _arguments(launcher: Launcher, arm: ArmPlan) -> tuple[str, ...]:
    argv = launcher.arguments(arm, port=_ANY_PORT)
    if isinstance(argv, Failure):
        message = f"{arm.id}: {argv.detail}; name another --server-binary or another --method"
        raise BadInputError(message)
    return argv
