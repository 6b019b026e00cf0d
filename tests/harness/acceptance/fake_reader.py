"""A fake draft that reads answers without a child process."""

from collections.abc import Sequence

from harness.acceptance.reader import AgreedTokens
from harness.campaign.model import Campaign
from tests.harness.fake_runner import FakeRig, FakeSession


class FakeReader(FakeSession):
    """Every second token agrees, and token 1 ends an answer."""

    def __init__(self, campaign: Campaign, **_: float) -> None:
        super().__init__(FakeRig(), campaign)

    def agreement(self, _prompt: object, answer: Sequence[int]) -> AgreedTokens:
        agrees = tuple(place % 2 == 0 and token != 1 for place, token in enumerate(answer[1:]))
        return AgreedTokens(agrees=agrees, ended=answer[-1] == 1)
