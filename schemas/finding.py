"""What is wrong with a document: one finding, one place, one line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Finding:
    """Something wrong at one place of a document: what, what was expected, what to do.

    `path` is a JSON path such as `$.trials[3].decode_ms`; `rule` names the check that found it.
    """

    path: str
    message: str
    rule: str

    def line(self, file: str) -> str:
        """The finding as one line: `file: $.path: message [rule]`."""
        return f"{file}: {self.path}: {self.message} [{self.rule}]"
