"""New files are also judged by `jsonschema`, with its formats, disagreements and time limit."""

import json
import re
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pipeline.intake import comment, reply
from pipeline.intake.reference_validator import FORMATS, RULE, Judged, compared, violation
from schemas.codec import canonical_bytes
from schemas.posted import to_text
from schemas.validator import SUBMISSION_SCHEMA, schema_findings
from tests.first_results import FIRST
from tests.generated import changed_documents
from tests.nightly import few
from tests.pipeline.repositories import SMALL, Repository, name_of
from tests.pipeline.test_form import proposed
from tests.samples import sample_bytes

ROOT = Path(__file__).parents[2]
VALID = sample_bytes(SMALL)


def judged(data: bytes, file: str = "a.json", **kind: Any) -> Judged:  # noqa: ANN401 - one name
    """A file that `jsonschema-rs` is said to have accepted."""
    return Judged(file=file, data=data, findings=(), **({"kind": "submission"} | kind))


@pytest.mark.long
@pytest.mark.parametrize("of_each_kind", few([25, 100], 1))
def test_both_validators_accept_and_refuse_the_same_generated_files(of_each_kind: int) -> None:
    pairs = [
        (not schema_findings(each, SUBMISSION_SCHEMA), violation(each, SUBMISSION_SCHEMA) is None)
        for each in changed_documents(of_each_kind)
    ]

    assert (len(pairs), [pair for pair in pairs if pair[0] != pair[1]]) == (4 * of_each_kind, [])
    assert of_each_kind <= sum(accepted for accepted, _ in pairs) < 2.5 * of_each_kind


@pytest.mark.parametrize(
    ("form", "right", "wrong"),
    [
        ("date-time", "2028-02-29T09:00:00Z", "2026-02-29T09:00:00Z"),
        ("date-time", "2026-11-21T23:59:59.5+01:00", "2026-11-21T24:00:00Z"),
        ("date", "2026-11-30", "2026-11-31"),
        ("uri", "https://example.org/a?b=1#c", "https://example.org/a b"),
    ],
)
def test_every_format_of_the_schemas_is_asserted(form: str, right: str, wrong: str) -> None:
    texts = (path.read_text("utf-8") for path in (ROOT / "schemas").glob("*.json"))

    assert [FORMATS.conforms(each, form) for each in (right, wrong)] == [True, False]
    assert set(re.findall(r'"format": "([a-z-]+)"', "".join(texts))) <= {"date", "date-time", "uri"}


def test_a_file_that_only_jsonschema_accepts_is_refused_with_both_messages(
    repository: Repository,
) -> None:
    """2.0 is an integer in JSON Schema but not in our format."""
    whole = VALID.replace(b'"version":2', b'"version":2.0')
    repository.write(whole, name_of(SMALL))
    repository.commit()

    for judgement in (repository.judge(), proposed(repository, to_text(whole))):
        assert {each.rule for each in judgement.findings} == {"schema-type", RULE}
        assert "jsonschema-rs refuses it as listed" in "".join(reply.lines(judgement))


def test_a_file_that_only_jsonschema_refuses_is_refused_with_both_messages() -> None:
    broken = json.loads(VALID) | {"measured_from": "2026-02-30T09:00:00Z"}

    (finding,), _ = compared([judged(canonical_bytes(broken))])

    assert finding.line() == (
        "a.json: $.measured_from: jsonschema-rs accepts this file, but jsonschema refuses it: "
        '"2026-02-30T09:00:00Z" breaks format "date-time"; the file is refused until both '
        f"validators agree: open an issue with this line [{RULE}]"
    )


def test_older_versions_and_published_figures_are_judged_by_their_own_schema() -> None:
    older = FIRST[0].read_bytes()  # of version 1
    printed = min((ROOT / "results" / "published").glob("rtx-*")).read_bytes()
    rowless = json.dumps(json.loads(printed) | {"rows": []}).encode()
    files = [judged(older), judged(printed, kind="published"), judged(rowless, kind="published")]

    assert [each.path for each in compared(files)[0]] == ["$.rows"]


def test_its_time_is_capped_and_the_reply_says_so(repository: Repository) -> None:
    """The clock advances by a second per reading, so that a longer check is cut off."""
    files = [judged(VALID, file=f"{number}.json") for number in range(3)]
    looks = map(float, count())
    compared(files[:1], time_s=10**6, clock=looks.__next__)
    repository.write(VALID, name_of(SMALL))
    repository.commit()
    made = repository.judge()

    _, late = compared(files, time_s=1.5 * next(looks), clock=map(float, count()).__next__)

    assert (made.late, late) == ((), ("1.json", "2.json"))
    results = (reply.Result(file=made.results[0]),)
    answer = reply.reply(replace(made, late=("a",)), results)
    assert reply.from_bytes(reply.to_bytes(answer)) == answer
    limit = "The time limit of the reference validator (60 s)"
    words = f"{limit} was reached, so only jsonschema-rs judged 1 file."
    assert words in reply.note(answer)
    assert words in comment.body(answer)
