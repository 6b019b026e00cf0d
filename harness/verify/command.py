"""`draftmap verify`: check whether a result's answers and counters fit its weights."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from harness import console
from harness.command_options import offers_fields
from harness.errors import NO, NOT_MEASURED, BadInputError
from harness.files import result_bytes
from harness.verify.options import VerifyOptions
from harness.verify.verification import repeat, require_same_weights, verdict
from schemas.codec import encode
from schemas.contract import read
from schemas.submission import Submission
from schemas.vocabulary import RUNNERS

_WORDS = {
    "agrees": "Agrees: answers and rounds match these weights.",
    "differs": "Differs: answers or rounds do not match these weights.",
    "not-comparable": "Not comparable: the local engine renders the prompts differently.",
}
_CODES = {"agrees": 0, "differs": NO, "not-comparable": NOT_MEASURED}


@console.reports_errors
@offers_fields
def verify(
    file: Annotated[Path, typer.Argument(help="A result file.", metavar="FILE")],
    options: VerifyOptions,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
) -> None:
    """Greedy answers and their number of rounds depend on weights and prompt, not on the machine.

    The command repeats two random prompts with each arm. Exit codes: 0 the answers agree, 1 they
    differ, 3 they could not be compared. At near-ties, single answers may differ on another
    machine. Times are not compared.

    - `python -m harness verify RESULT.json`

    - `python -m harness verify RESULT.json --target big.gguf --draft small.gguf`
    """
    submission = read(result_bytes(file), file=str(file), now=datetime.now(UTC))
    if not isinstance(submission, Submission):
        raise BadInputError(
            f"{submission[0].line()}; `python -m harness validate` lists all findings"
        )
    asked = options.campaign_options(submission)
    runner = options.runner or submission.engine.runner
    own = runner if runner in RUNNERS else None
    (engine, *_) = replace(options, runner=own).engines(asked)
    campaign = engine.campaign(asked, fetch=True)
    require_same_weights(submission, campaign)
    found = []
    for each in repeat(submission, campaign, engine.adapter().open, console.say):
        found.append(each)
        if not json:
            console.print_lines([f"{each.arm} on {each.prompt}: {each.line}"])
    said = verdict(found)
    if json:
        console.print_json({"verdict": said, "repeated": encode(found)})
    else:
        console.print_lines([_WORDS[said]])
    raise typer.Exit(_CODES[said])
