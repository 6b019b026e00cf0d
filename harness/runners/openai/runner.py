"""The door of the runner `openai`: checks how the servers are reached and opens a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import BadInputError
from harness.runners.openai.connection import Limits
from harness.runners.openai.doors import check, doors
from harness.runners.openai.key import api_key
from harness.runners.openai.report import check_backend
from harness.runners.openai.servers import Access
from harness.runners.openai.session import OpenAiSession

if TYPE_CHECKING:
    from harness.model import Campaign
    from harness.runners import Reach
    from harness.runners.base import Session


class OpenAiServer:
    """Measures through servers that speak OpenAI's protocol: one plain, one for each method."""

    def __init__(self, reach: Reach) -> None:
        """Raises `BadInputError` when the options do not say how to reach the servers."""
        check_backend(reach.backend)
        self._access = Access(
            doors=doors(reach),
            model=reach.model,
            limits=Limits(startup_s=reach.startup_limit_s, answer_s=reach.answer_limit_s),
            key=api_key(),
        )
        self._backend = reach.backend

    def open(self, campaign: Campaign) -> Session:
        """A session; nothing is asked or started yet. Raises `BadInputError`."""
        if campaign.settings.teacher_forced:
            message = "a server cannot be fed the baseline's text; leave out --teacher-forced"
            raise BadInputError(message)
        check(self._access.doors, campaign)
        return OpenAiSession(campaign, self._access, backend=self._backend)
