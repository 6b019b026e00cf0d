"""The door of the runner `llama-server`: finds the binary and opens a session on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import BadInputError
from harness.runners.server.binary import find
from harness.runners.server.launch import Launcher
from harness.runners.server.session import LlamaServerSession

if TYPE_CHECKING:
    from harness.model import Campaign
    from harness.runners.base import Session

STARTUP_LIMIT_S = 300.0
ANSWER_LIMIT_S = 900.0


class LlamaServer:
    """Measures through any llama-server binary: one fresh server for each arm and block."""

    def __init__(
        self,
        *,
        binary: str | None = None,
        startup_limit_s: float = STARTUP_LIMIT_S,
        answer_limit_s: float = ANSWER_LIMIT_S,
    ) -> None:
        self._binary = binary
        self._startup_limit_s = startup_limit_s
        self._answer_limit_s = answer_limit_s

    def open(self, campaign: Campaign) -> Session:
        """Ask the binary what it can do. Raises `HarnessError` when there is none."""
        if campaign.settings.teacher_forced:
            message = "a server cannot be fed the baseline's text; leave out --teacher-forced"
            raise BadInputError(message)
        binary = find(self._binary)
        launcher = Launcher(campaign=campaign, binary=binary, startup_limit_s=self._startup_limit_s)
        return LlamaServerSession(campaign, binary, launcher, answer_limit_s=self._answer_limit_s)
