"""Find the submissions that a submission supersedes, directly or through a chain."""

from collections.abc import Iterable, Sequence

from schemas.codec import content_digest
from schemas.migrations import forms
from schemas.submission import Submission


class SupersedeChains:
    """For each submission, the positions of those that it supersedes.

    `digests` are the digests of the files, if known. Unknown digests are computed only for
    contributors who supersede something, because that is slow.
    """

    def __init__(self, submissions: Sequence[Submission], digests: Sequence[str | None]) -> None:
        self._submissions = submissions
        self._digests = digests
        self._by_contributor: dict[str, list[int]] = {}
        self._by_digest: dict[str, dict[str, int]] = {}
        for position, each in enumerate(submissions):
            if each.contributor is not None:
                # GitHub user names ignore upper and lower case.
                self._by_contributor.setdefault(each.contributor.lower(), []).append(position)

    def replaced_by(self, submission: Submission) -> frozenset[int]:
        """The positions of all submissions that this one replaces, directly or through others."""
        found: set[int] = set()
        position = self._named(submission)
        while position is not None and position not in found:
            found.add(position)
            position = self._named(self._submissions[position])
        return frozenset(found)

    def _named(self, submission: Submission) -> int | None:
        """The position of the submission that this one supersedes, if by the same contributor."""
        if submission.supersedes is None or submission.contributor is None:
            return None
        author = submission.contributor.lower()
        if author not in self._by_digest:
            own = self._by_contributor.get(author, ())
            self._by_digest[author] = {digest: at for at in own for digest in self._names(at)}
        ending = submission.supersedes.removesuffix(".json").rpartition("-")[2]
        return self._by_digest[author].get(ending)

    def _names(self, at: int) -> Iterable[str]:
        """The file's digest or, if unknown, the submission's digests in every format version."""
        known = self._digests[at]
        return map(content_digest, forms(self._submissions[at])) if known is None else (known,)
