"""`draftmap forget`: empty the record of what was measured on this machine."""

from harness import console
from harness.record import kept
from schemas.vocabulary import say


@console.reports_errors
def forget() -> None:
    """The record has the results, step times and counts of accepted tokens that `plan` uses.

    Result files that you wrote are not deleted.
    """
    console.say(f"{say.count(kept.forget(), 'measurement')} deleted.")
