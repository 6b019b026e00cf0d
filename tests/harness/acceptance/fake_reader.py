"""A fake draft that reads answers without a child process."""

from harness.acceptance.reader import AgreedTokens
from harness.campaign.model import Campaign
from tests.harness.fake_runner import FakeRig, FakeSession


class FakeReader(FakeSession):
    """Every second token agrees; a word is a token, and token 1 ends an answer."""

    def __init__(self, campaign: Campaign, **_: float) -> None:
        super().__init__(FakeRig(), campaign)

    def agreement(
        self, _prompt: object, tokens: tuple[int, ...] | None, text: str | None
    ) -> AgreedTokens:
        tokens = tokens or tuple(range(2, 2 + len((text or "").split())))
        agrees = tuple(place % 2 == 0 and token != 1 for place, token in enumerate(tokens[1:]))
        return AgreedTokens(agrees=agrees, ended=tokens[-1] == 1)
