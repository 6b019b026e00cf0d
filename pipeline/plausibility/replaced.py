"""Which submissions of a corpus does another one replace, directly or by way of others?

A file is named by its content at the end, so a name tells which submission is meant.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schemas.canonical import canonical_bytes, content_digest
from schemas.codec import encode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schemas.submission import Submission


@dataclass(frozen=True, slots=True)
class Lines:
    """Submissions, where those of each contributor stand, and the digests that were needed.

    Digests are dear: they are made for a contributor who replaces something, then kept.
    """

    submissions: Sequence[Submission]
    by_contributor: Mapping[str, Sequence[int]]
    digests: dict[str, dict[str, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, submissions: Sequence[Submission]) -> Lines:
        """The lines of a corpus; handles are the same in any case of their letters."""
        found: dict[str, list[int]] = {}
        for position, each in enumerate(submissions):
            if each.contributor is not None:
                found.setdefault(each.contributor.lower(), []).append(position)
        return cls(submissions, found)

    def replaced_by(self, submission: Submission) -> frozenset[int]:
        """What a submission supersedes, what that one supersedes, and so on."""
        found: set[int] = set()
        position = self._named(submission)
        while position is not None and position not in found:
            found.add(position)
            position = self._named(self.submissions[position])
        return frozenset(found)

    def _named(self, submission: Submission) -> int | None:
        """The submission of the same contributor whose file is named as superseded."""
        if submission.supersedes is None or submission.contributor is None:
            return None
        author = submission.contributor.lower()
        if author not in self.digests:
            own = self.by_contributor.get(author, ())
            self.digests[author] = {_digest(self.submissions[at]): at for at in own}
        ending = submission.supersedes.removesuffix(".json").rpartition("-")[2]
        return self.digests[author].get(ending)


def _digest(submission: Submission) -> str:
    return content_digest(canonical_bytes(encode(submission)))
