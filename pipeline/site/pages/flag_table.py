"""The table of all flags in the methodology, from the words of the flags themselves."""

from schemas.vocabulary.flags import FLAGS

PLACE = "<!-- table of flags -->"


def with_flags(page: str) -> str:
    """The methodology with the table of flags in its place."""
    if PLACE not in page:
        raise ValueError(f"the methodology page has no line {PLACE}")
    rows = (f"| `{each.id}` | {each.severity} | {each.explanation()} |" for each in FLAGS.values())
    table = "\n".join(("| Flag | Severity | Raised when |", "| --- | --- | --- |", *rows))
    return page.replace(PLACE, table)
