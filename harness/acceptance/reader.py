"""A draft in a child process that reads the answers of its target."""

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
        thinking = campaign.settings.thinking
        self._reads = partial(_agreement, rows=widest(campaign), thinking=thinking)

    def agreement(
        self, prompt: str | tuple[int, ...], tokens: tuple[int, ...] | None, text: str | None
    ) -> AgreedTokens:
        """Compare the model's choices with an answer, given as tokens, as text, or both.

        Raises `BadInputError` if the comparison is impossible, for example if tokens and text
        contradict each other, and `MachineError` if the child dies.
        """
        try:
            return self._ask(partial(self._reads, prompt=prompt, tokens=tokens, text=text))
        except FailedError as error:
            raise MachineError(
                f"the engine failed while reading the answers: {error}; try: python -m "
                "harness doctor"
            ) from error


def _agreement(
    session: Session,
    *,
    prompt: str | tuple[int, ...],
    tokens: tuple[int, ...] | None,
    text: str | None,
    rows: int,
    thinking: bool,
) -> AgreedTokens:
    # Only the child, which has loaded the engine, imports this.
    from harness.acceptance.agreement import agreement  # noqa: PLC0415

    return agreement(session, prompt, tokens, text, rows=rows, thinking=thinking)
