"""`draftmap explain`: explain a flag, a verdict, a reason, a finding or an exit code."""

from collections.abc import Mapping
from typing import Annotated

import typer

from harness import console
from harness.errors import EXIT_CODES, BadInputError, suggestion
from schemas.rules import RULES
from schemas.vocabulary import DOUBTS, METHODS, VERDICTS
from schemas.vocabulary.documents import document
from schemas.vocabulary.flags import FLAGS


@console.reports_errors
def explain(
    *,
    word: Annotated[
        str,
        typer.Argument(
            metavar="WORD",
            help="A flag (`busy-machine`), a verdict (`helps`), the reason for a failure, the "
            "code of a finding, a method, or an exit code. Default: explain all of them.",
        ),
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="Print the texts as JSON.")] = False,
) -> None:
    """Explain words in reports, comments and pages."""
    known = explained()
    asked = _code(word) if word else ""
    if asked and asked not in known:
        hint = suggestion(asked, known) or " `python -m harness explain` lists them."
        raise BadInputError(f"{word!r} is not a known flag, verdict, reason or code.{hint}")
    shown = {asked: known[asked]} if asked else known
    if json:
        console.print_json({"words": {**shown}})
        return
    for name, text in shown.items():
        console.print_lines([f"{name}: {text}"])


def explained() -> Mapping[str, str]:
    """Return the explanation of each word that `draftmap explain` knows.

    Flags and verdicts take precedence over other tables.
    """
    codes: Mapping[str, Mapping[str, str]] = document("codes")
    verdicts, doubts = VERDICTS.values(), DOUBTS.items()
    tables = (
        {f.id: f"{f.severity} flag. {f.explanation()} {f.remedy}" for f in FLAGS.values()},
        {v.id: f"verdict, {v.label}. {codes['verdict'][v.id]}" for v in verdicts},
        {name: f"reason for no verdict: {text}." for name, text in doubts},
        {n: f"reason for a failure. {text}" for n, text in codes["reason"].items()},
        {m.id: f"method, {m.label}: {m.summary}." for m in METHODS.values()},
        {n: f"rule of the format. {rule.__doc__}" for n, rule in RULES.items()},
        {n: f"finding. {text}" for n, text in codes["code"].items()},
        {str(number): f"exit code: {text}." for number, text in EXIT_CODES.items()},
    )
    found: dict[str, str] = {}
    for name, text in (entry for table in tables for entry in table.items()):
        found.setdefault(name, console.as_started(" ".join(text.split())))
    return found


def _code(word: str) -> str:
    """Return a word as the tables spell it; all schema findings share the entry `schema`."""
    plain = word.strip("[]` ").lower().replace(" ", "-")
    if plain.startswith("schema-"):
        return "schema"
    labels = {each.word.replace(" ", "-"): each.id for each in VERDICTS.values()}
    return labels.get(plain, plain)
