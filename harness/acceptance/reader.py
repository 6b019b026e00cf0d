"""A draft in a child process that reads the answers of its target."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from harness.campaign.model import Campaign
from harness.errors import MachineError
from harness.runners.base import FailedError, Session
from harness.runners.inprocess import open_in_process
from harness.runners.isolated import IsolatedSession
from harness.runners.probes import widest


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreedTokens:
    """Whether a model would have chosen each token of an answer, from the second token on.

    `ended` tells whether the answer's last token ends the text. Such a token does not count as
    chosen, because no draft is accepted there.
    """

    agrees: tuple[bool, ...]
    ended: bool


class Reader(IsolatedSession):
    """A session whose model can be compared with an answer that another model wrote."""

    def __init__(self, campaign: Campaign, *, answer_limit_s: float) -> None:
        """Load the campaign's target in a child process. Raises `HarnessError`."""
        super().__init__(open_in_process, campaign, answer_limit_s=answer_limit_s)
        self._rows = widest(campaign)

    def agreement(self, prompt: Sequence[int], answer: Sequence[int]) -> AgreedTokens:
        """Compare the model's choices with an answer, both as token ids.

        Raises `BadInputError` if that is impossible, and `MachineError` if the child dies.
        """
        try:
            return self._ask(partial(_agreement, prompt=prompt, answer=answer, rows=self._rows))
        except FailedError as error:
            raise MachineError(
                f"the engine failed while reading the answers: {error}; try: python -m "
                "harness doctor"
            ) from error


def _agreement(
    session: Session, *, prompt: Sequence[int], answer: Sequence[int], rows: int
) -> AgreedTokens:
    # Only the child, which has loaded the engine, imports this.
    from harness.acceptance.agreement import agreement  # noqa: PLC0415

    return agreement(session, prompt, answer, rows=rows)
