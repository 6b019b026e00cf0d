"""A reported published figure becomes one new file, by the form or by the command."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.collection.published import published_findings
from pipeline.intake import comment, form, gate, reply
from pipeline.intake.authorship import Sending
from pipeline.intake.figure_form import QUESTIONS, REQUIRED, answers_of, published
from pipeline.intake.paths import PUBLISHED
from schemas.posted import UnreadableTextError
from tests.pipeline.repositories import SMALL, Repository
from tests.pipeline.test_form import event
from tools import reported

ROOT = Path(__file__).parents[2]
ANSWERS = {
    "url": "https://example.org/t/1",
    "who": "ada",
    "date": "2026-07",
    "card": "2x RTX 3060 12 GB",
    "model": "Qwen3.8-27B",
    "method": "mtp",
    "depth": "2",
    "before": "10.0",
    "after": "8.9",
}
BY_FORM = Sending(author="Ada", of_form=True)


def body(answers: dict[str, str]) -> str:
    return "\r\n\r\n".join(
        f"### {question}\r\n\r\n{answers.get(name, '_No response_')}"
        for name, question in QUESTIONS.items()
    )


def proposed(repository: Repository, answers: dict[str, str]) -> tuple[gate.Judgement, bytes]:
    filled = form.read_event(event(repository.path.parent, body(answers), label="figure"))
    return form.propose(repository.path, "main", filled, Sending(author="ada"))


def test_a_reported_figure_becomes_one_new_file_of_the_rig_and_both_rates(
    repository: Repository,
) -> None:
    judgement, data = proposed(repository, ANSWERS)

    changed = repository.git("diff", "--name-status", "main", judgement.head)
    document = json.loads(data)
    assert judgement.decision == "accepted"
    assert changed == f"A\t{PUBLISHED}/{document['source']['id']}.json"
    assert document["rigs"][0]["gpu"] == "2 \N{MULTIPLICATION SIGN} RTX 3060"
    assert document["rigs"][0]["gpu_vram_mib"] == 24576
    base, figure = document["rows"]
    assert (base["method"], figure["method"], figure["n_max"]) == ("none", "mtp", 2)
    assert [row["figures"][0]["value"] for row in (base, figure)] == [10, 8.9]
    assert figure["contributor"] == "ada"
    assert figure["date"] == "2026-07"
    said = comment.body(reply.reply(judgement))
    assert "on the page of its card" in said


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"card": "RTX 4090 (likely)"}, "Which card: is a guess (RTX 4090 (likely))"),
        ({"model": ""}, "Which model: is empty"),
        ({"after": ""}, "Tokens/s with speculation: is missing"),
        ({"depth": "two"}, "How many tokens per draft: is not a number (two)"),
        ({"speedup": "1.5"}, "the speedup is 1.5, but the rates give 0.89"),
        ({"method": "draft-model"}, 'the field "draft" is missing'),
        ({"method": "magic"}, '"magic"'),
        ({"url": "javascript:alert(1)"}, "has the wrong form"),
        ({"note": "<script>"}, "has the wrong form"),
        ({"before": "nan"}, "Tokens/s without speculation: is not a number (nan)"),
    ],
)
def test_invalid_answers_are_rejected_with_the_reason(
    repository: Repository, changes: dict[str, str], reason: str
) -> None:
    judgement, _ = proposed(repository, ANSWERS | changes)

    assert judgement.decision == "rejected"
    assert reason in " ".join(finding.message for finding in judgement.findings)


def committed(repository: Repository, *names: str) -> None:
    name, data = published(ANSWERS, "2026-11-26", reported_by="Ada")
    (repository.path / PUBLISHED).mkdir(exist_ok=True)
    for each in names or (name,):
        (repository.path / PUBLISHED / each).write_bytes(data)
    repository.commit()


def test_only_the_branch_of_a_form_adds_a_figure_without_a_maintainer(
    repository: Repository,
) -> None:
    committed(repository)

    assert repository.judge(BY_FORM).decision == "accepted"
    assert {each.rule for each in repository.judge().findings} == {"path-curated"}


def test_the_branch_of_a_form_changes_nothing_that_is_there(repository: Repository) -> None:
    committed(repository)
    repository.git("branch", "--force", "main", "pull-request")
    (path,) = (repository.path / PUBLISHED).iterdir()
    path.write_bytes(path.read_bytes().replace(b"8.9", b"9.9"))
    repository.commit()

    (finding,) = repository.judge(BY_FORM).findings

    assert (finding.rule, finding.file) == ("path-not-added", f"{PUBLISHED}/{path.name}")


def test_the_branch_of_a_form_adds_one_file_below_the_published_ones(
    repository: Repository,
) -> None:
    committed(repository, "one.json", "two.json")
    assert {each.rule for each in repository.judge(BY_FORM).findings} == {"path-count"}

    repository.git("reset", "--quiet", "--hard", "main")
    (repository.path / "README.md").write_text("Other words.\n", "utf-8")
    repository.commit()
    assert {each.rule for each in repository.judge(BY_FORM).findings} == {"path-outside"}

    repository.git("reset", "--quiet", "--hard", "main")
    repository.add(SMALL)
    committed(repository)
    assert {each.rule for each in repository.judge(BY_FORM).findings} == {"path-outside"}


def corrupted(**changes: Any) -> set[str]:  # noqa: ANN401 - JSON
    document = json.loads(published(ANSWERS, "2026-11-26")[1])
    document["rows"][1] |= changes
    return {each.rule for each in published_findings(document)}


def test_rows_name_their_rig_their_baseline_and_a_ratio_of_their_rates() -> None:
    rates = {"decode_tps": 8.9, "speedup": 0.8}
    figures = [{"quantity": name, "value": value} for name, value in rates.items()]

    assert corrupted() == set()
    assert corrupted(rig="other") == {"published-rig", "published-baseline"}
    assert corrupted(baseline_row="other") == {"published-baseline"}
    assert corrupted(target={"name": "Other"}) == {"published-baseline"}
    assert corrupted(id="baseline") == {"published-id"}
    assert corrupted(figures=figures) == {"published-ratio"}
    assert corrupted(figures=figures, note="The page prints both.") == set()


def test_the_form_asks_every_question_of_the_command() -> None:
    asked = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/figure.yml").read_text("utf-8"))
    fields = [each for each in asked["body"] if "id" in each]
    row = json.loads((ROOT / "schemas/published.v1.schema.json").read_bytes())["$defs"]["row"]
    methods = {each for each in row["properties"]["method"]["enum"] if each != "none"}
    options = {each["id"]: set(each["attributes"].get("options", ())) for each in fields}

    assert {each["id"]: each["attributes"]["label"] for each in fields} == QUESTIONS
    assert {each["id"] for each in fields if "validations" in each} == set(REQUIRED)
    assert asked["labels"] == [form.FIGURE.name]
    assert options["method"] == methods
    assert options["doubt"] == set(row["properties"]["doubts"]["items"]["enum"])
    assert options["task"] == set(row["properties"]["task"]["enum"])


def test_the_command_asks_checks_and_writes_one_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = {QUESTIONS[name]: text for name, text in ANSWERS.items()}

    def ask(prompt: str) -> str:
        return answers.get(prompt.removesuffix(" ").removesuffix(" (or nothing)"), "")

    assert reported.main(["add", "--today", "2026-11-26"], ask, tmp_path) == 0
    (path,) = tmp_path.iterdir()
    assert (path.name, path.read_bytes()) == published(ANSWERS, "2026-11-26")
    assert reported.main(["add", "--today", "2026-11-26"], ask, tmp_path) == 1
    assert reported.main(["add", "--url", "https://example.org"], ask, tmp_path) == 1
    assert "Who measured it: is empty" in capsys.readouterr().err


def added(folder: Path, rows: object) -> int:
    """The exit code of `add --file` with these rows."""
    path = folder / "rows.json"
    path.write_text(rows if isinstance(rows, str) else json.dumps(rows), "utf-8")
    (folder / "published").mkdir(exist_ok=True)
    arguments = ["add", "--today", "2026-11-26", "--file", str(path)]
    return reported.main(arguments, pytest.fail, folder / "published")


def test_figures_of_one_address_become_one_file_with_each_rig_and_baseline_once(
    tmp_path: Path,
) -> None:
    deeper = ANSWERS | {"depth": 3, "after": 7.90}
    ratio = {**ANSWERS, "who": "bea", "before": None, "after": None, "speedup": "1.2"}
    other = ratio | {"url": "https://example.org/t/2", "model": "Qwen3-8B"}

    assert added(tmp_path, [ANSWERS, deeper, ratio, other]) == 0

    (many, one) = sorted((tmp_path / "published").iterdir())
    document = json.loads(many.read_bytes())
    assert many.stem == document["source"]["id"]
    assert [*published_findings(document)] == []
    assert "author" not in document["source"]
    assert len(document["rigs"]) == 1
    assert [row.get("baseline_row") for row in document["rows"]] == [
        *(None, "baseline-1", "baseline-1", None)
    ]
    assert [row["figures"][0]["as_printed"] for row in document["rows"]] == [
        *("10.0", "8.9", "7.9", "1.2")
    ]
    alone = {name: value for name, value in other.items() if value is not None}
    assert (one.name, one.read_bytes()) == published(alone, "2026-11-26")


def test_of_a_file_with_wrong_rows_nothing_is_written_and_each_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        ANSWERS,
        ANSWERS | {"card": "RTX 4090 (likely)"},
        ANSWERS | {"cards": "RTX 4090"},
        ANSWERS | {"depth": [2]},
        ANSWERS | {"method": "draft-model"},
        "RTX 4090",
        ANSWERS,
    ]

    assert added(tmp_path, rows) == 1
    lines = capsys.readouterr().err.splitlines()
    assert list((tmp_path / "published").iterdir()) == []
    assert [line.partition("; ")[0] for line in lines] == [
        "row 2: card: is a guess (RTX 4090 (likely))",
        "row 3: cards: is unknown",
        "row 4: depth: must be a text or a number",
        'row 5: the field "draft" is missing',
        "row 6: must be an object with the fields of a figure",
        "row 7: row 1 already has this figure",
    ]


def test_a_figure_that_a_published_file_has_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert added(tmp_path, [ANSWERS]) == 0
    (path,) = (tmp_path / "published").iterdir()

    again = ANSWERS | {"url": "https://example.org/copy", "model": "qwen3.8 27b", "before": 10}
    assert added(tmp_path, [again]) == 1
    assert capsys.readouterr().err == f"row 1: {path.name} already has this figure\n"


def test_of_one_address_at_most_25_figures_are_cited(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert added(tmp_path, [ANSWERS | {"depth": depth} for depth in range(1, 27)]) == 1
    assert capsys.readouterr().err.startswith("row 26: url: has more than 25 figures")


@pytest.mark.parametrize("rows", ["[", "{}", "[]"])
def test_a_file_that_is_no_list_of_figures_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: str
) -> None:
    assert added(tmp_path, rows) == 1
    assert "rows.json" in capsys.readouterr().err


def test_the_example_of_many_figures_in_contributing_is_accepted(tmp_path: Path) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    (rows,) = re.findall(r"--file ROWS\.json`.*?```json\n(.*?)```", text, re.DOTALL)

    assert added(tmp_path, rows) == 0


def test_an_empty_form_has_no_answers() -> None:
    assert answers_of("Hello") == {}
    with pytest.raises(UnreadableTextError, match="Where was it published"):
        published(answers_of(body({})), "2026-11-26")


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"after": "0"}, "schema-minimum"),
        ({"before": "0.01"}, "schema-minimum"),
        ({"before": "1", "after": "99999"}, "schema-maximum"),
        ({"before": "", "after": "", "speedup": "20.5"}, "schema-maximum"),
        ({"before": "100", "after": "4"}, "published-bounds"),
        ({"date": "2026-02-31"}, "published-day"),
        ({"date": "2028-01"}, "published-day"),
        ({"date": "2026-11-26"}, "published-day"),  # the form is of the day before
        ({"who": "hf_" + "a1B2" * 9}, "published-private"),
        ({"url": "https://example.org/t?access_token=ghp_" + "a1B2" * 9}, "published-private"),
        ({"note": "Write to ada@example.org."}, "published-private"),
        ({"model": "Qwen3-8\N{CYRILLIC CAPITAL LETTER VE}"}, "schema-pattern"),
        ({"card": "RTX \N{LISU LETTER BA}3090"}, "schema-pattern"),
        ({"quantisation": "Q4  K"}, "schema-pattern"),
    ],
    ids=ascii,
)
def test_a_figure_that_cannot_be_right_or_is_private_is_refused(
    repository: Repository, changes: dict[str, str], rule: str
) -> None:
    judgement, _ = proposed(repository, ANSWERS | changes)

    assert rule in {finding.rule for finding in judgement.findings}


@pytest.mark.parametrize("before", ["10.0", ""])
def test_a_run_that_crashed_is_a_row_without_a_ratio(repository: Repository, before: str) -> None:
    judgement, data = proposed(repository, ANSWERS | {"after": "Crashed", "before": before})

    assert judgement.findings == ()
    figure = json.loads(data)["rows"][-1]
    assert (figure["outcome"], figure["figures"]) == ("crashed", [])


def test_a_form_names_its_account_and_cannot_say_that_it_was_checked(
    repository: Repository,
) -> None:
    _, data = proposed(repository, ANSWERS)
    name, forged = published(ANSWERS, "2026-11-26", reported_by="eve", checked_by="mae")
    (repository.path / PUBLISHED).mkdir()
    (repository.path / PUBLISHED / name).write_bytes(forged)
    repository.commit()

    rules = {finding.rule for finding in repository.judge(BY_FORM).findings}

    assert rules == {"contributor-author", "published-checked"}
    assert json.loads(data)["reported_by"] == "ada"
    assert "checked_by" not in json.loads(data)


@pytest.mark.parametrize(
    ("again", "is_double"),
    [
        ({"url": "https://example.org/copy"}, True),  # equal rates, whoever repeats them
        ({"url": "https://example.org/copy", "after": "8.8"}, False),
        ({"card": "2x NVIDIA GeForce RTX 3060 12 GB", "who": "bea"}, True),
    ],
)
def test_a_figure_that_the_base_has_is_refused(
    repository: Repository, again: dict[str, str], *, is_double: bool
) -> None:
    committed(repository)
    repository.git("branch", "--force", "main", "pull-request")

    judgement, _ = proposed(repository, ANSWERS | again)

    rules = {finding.rule for finding in judgement.findings}
    assert rules == ({"published-double"} if is_double else set())


@pytest.mark.parametrize(
    ("url", "who", "is_double"),
    [
        ("https://example.org/t/1?page=2#last", "bea", True),
        ("https://example.org/t/2", "ada", True),
        ("https://example.org/t/2", "bea", False),  # two people can find the same ratio
    ],
)
def test_three_names_are_not_three_votes_for_one_ratio(
    repository: Repository, url: str, who: str, *, is_double: bool
) -> None:
    rates = ("before", "after")
    ratio = {name: text for name, text in ANSWERS.items() if name not in rates} | {"speedup": "1.5"}
    name, data = published(ratio, "2026-11-25", reported_by="Ada")
    (repository.path / PUBLISHED).mkdir()
    (repository.path / PUBLISHED / name).write_bytes(data)
    repository.commit()
    repository.git("branch", "--force", "main", "pull-request")

    judgement, _ = proposed(repository, ratio | {"url": url, "who": who})

    rules = {finding.rule for finding in judgement.findings}
    assert rules == ({"published-double"} if is_double else set())
