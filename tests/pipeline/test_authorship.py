"""Rules on who may send which result, under which name and when, and on curated files."""

import json
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline.collection.validation import contributor_of
from pipeline.intake import comment, gate, git, reply
from pipeline.intake.authorship import Sending
from schemas.submission import Submission, Trial
from tests.pipeline.repositories import FOLDER, SMALL, Repository, name_of
from tests.processes import needs_shell
from tests.samples import sample, sample_bytes

ADA, EVE = Sending(author="ada"), Sending(author="eve")
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
ENTRY = {
    "format": "draftmap-lifecycle",
    "version": 1,
    "status": "quarantined",
    "date": "2026-11-21",
    "reason": "It looks odd",
}


def rules(repository: Repository, submission: Submission, sent: Sending) -> list[str]:
    repository.add(submission)
    return [each.rule for each in repository.judge(sent).findings]


def answered(repository: Repository, sent: Sending) -> tuple[gate.Judgement, reply.Reply]:
    judgement = repository.judge(sent)
    return judgement, reply.reply(judgement)


def test_twelve_invented_contributors_are_twelve_findings(repository: Repository) -> None:
    for number in range(12):
        forged = sample(
            tasks=("code",), prompts_per_task=1, blocks=1, seed=number, contributor=f"c{number}"
        )
        repository.add(forged)

    found = repository.judge(EVE).findings

    assert [each.rule for each in found] == ["contributor-author"] * 12


@pytest.mark.parametrize("contributor", ["ada", "Ada", None])
def test_a_result_is_by_its_sender_or_anonymous(
    repository: Repository, contributor: str | None
) -> None:
    assert rules(repository, replace(SMALL, contributor=contributor), ADA) == []


def test_a_label_of_a_maintainer_lets_one_send_for_another(repository: Repository) -> None:
    labelled = replace(EVE, labels=frozenset({"on-behalf"}))

    assert rules(repository, SMALL, labelled) == []


@pytest.mark.parametrize(
    ("day", "rule"),
    [
        ("2026-11-22", []),
        ("2026-11-23", []),  # ends at 10:00 of the next day, within 24 hours
        ("2026-11-24", ["measured-in-future"]),
        ("2099-01-01", ["measured-in-future"]),
        ("2001-01-01", ["measured-before-engine"]),
        ("2023-03-09", ["measured-before-engine"]),
        ("2023-03-10", []),
    ],
)
def test_a_date_is_possible(repository: Repository, day: str, rule: list[str]) -> None:
    dated = sample(tasks=("code",), prompts_per_task=1, blocks=1, day=day)

    assert rules(repository, dated, replace(ADA, now=NOW)) == rule


@pytest.mark.parametrize("old", ["rtx-4060", "sample-7b"])
def test_a_file_name_must_match_its_content(repository: Repository, old: str) -> None:
    renamed = name_of(SMALL).replace(old, "rtx-4o90")
    repository.write(sample_bytes(SMALL), renamed)
    repository.commit()

    (found,) = repository.judge(ADA).findings

    assert found.rule == "canonical-name"
    assert name_of(SMALL) in found.message


@pytest.mark.parametrize(
    "folder",
    ["lifecycle", "published", "Lifecycle", "\uff50ublished", "lifecycle.", "publi\u200dshed", "x"],
)
def test_a_pull_request_that_touches_curated_data_alone_is_refused_with_a_comment(
    repository: Repository, folder: str
) -> None:
    path = f"results/{folder}/{repository.there.name}"
    (repository.path / path).parent.mkdir()
    (repository.path / path).write_text(json.dumps(ENTRY), encoding="utf-8")
    repository.commit()

    judgement, answer = answered(repository, EVE)

    assert judgement.decision == "rejected"
    assert [each.rule for each in judgement.findings] == ["path-curated"]
    assert "only maintainers change published figures" in comment.body(answer)
    assert reply.from_bytes(reply.to_bytes(answer)) == answer


def test_a_folder_in_full_width_letters_is_refused(repository: Repository) -> None:
    repository.write(sample_bytes(SMALL), f"../\uff43ommunity/{name_of(SMALL)}")
    repository.commit()

    assert [each.rule for each in repository.judge(ADA).findings] == ["path-outside"]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (None, json.dumps(ENTRY), []),
        ("gone--result--20261121-00112233.json", json.dumps(ENTRY), ["lifecycle-name"]),
        (None, "{}", ["schema-required"]),
    ],
)
def test_files_approved_by_a_maintainer_are_still_checked(
    repository: Repository, name: str | None, text: str, expected: list[str]
) -> None:
    path = repository.path / "results" / "lifecycle" / (name or repository.there.name)
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    repository.commit()

    judgement = repository.judge(replace(EVE, labels=frozenset({"curation"})))

    found = {each.rule for each in judgement.findings}
    assert found == set(expected)
    assert judgement.decision == ("rejected" if expected else "no-result")
    assert judgement.results == ()
    assert FOLDER not in {each.file for each in judgement.findings}


FIGURE = min((Path(__file__).parents[2] / "results" / "published").glob("*.json"))


def curated(repository: Repository, path: str, kind: str) -> set[tuple[str, str]]:
    """The gate's findings on an entry of this kind and path that a maintainer approved."""
    place = repository.path / path
    place.parent.mkdir(parents=True, exist_ok=True)
    if kind == "link":
        place.symlink_to("README.md")
    elif kind == "submodule":
        commit = repository.git("rev-parse", "HEAD")
        repository.git("update-index", "--add", "--cacheinfo", f"160000,{commit},{path}")
        repository.git("commit", "--quiet", "--message", "A submodule")
    else:
        place.write_bytes(FIGURE.read_bytes() if kind == "figure" else kind.encode())
        place.chmod(0o755 if kind == "#!/bin/sh" else 0o644)
    if kind != "submodule":
        repository.commit()
    judgement = repository.judge(replace(EVE, labels=frozenset({"curation"})))
    return {(each.file, each.rule) for each in judgement.findings}


@needs_shell
@pytest.mark.parametrize(
    ("path", "kind", "rule"),
    [
        ("results/published/a-link.json", "link", "path-mode"),
        ("results/lifecycle/a-submodule.json", "submodule", "path-mode"),
        ("results/published/a-program.json", "#!/bin/sh", "path-mode"),
        ("results/published/2026/a-figure.json", "figure", "path-curated"),
        ("results/other/x", "x", "path-curated"),
        ("results/published/notes.txt", "x", "path-curated"),
        (f"results/published/{'a' * 245}.json", "figure", "path-curated"),
        ("results/sources.toml", "[[source", "toml"),
        ("results/sources.toml", "source = 1", "schema-type"),
    ],
)
def test_a_curated_path_that_a_build_stops_at_is_a_finding(
    repository: Repository, path: str, kind: str, rule: str
) -> None:
    assert curated(repository, path, kind) == {(path, rule)}


def test_the_same_name_in_two_folders_is_two_findings(repository: Repository) -> None:
    for folder in ("2025", "2026"):
        found = curated(repository, f"results/published/{folder}/a.json", "figure")

    assert {path for path, _ in found} == {f"results/published/{y}/a.json" for y in (2025, 2026)}


def test_a_published_figure_that_a_maintainer_adds_is_accepted(repository: Repository) -> None:
    assert curated(repository, f"results/published/{FIGURE.name}", "figure") == set()


@pytest.mark.parametrize(
    ("name", "contributor"),
    [
        ("contributor--old--name.json", "old--name"),
        ("contributor--ends-.json", "ends-"),
        ("contributor--ada.json", "ada"),
        ("contributor--qwen3--20261121-00112233.json", None),  # a result of a machine of this name
    ],
)
def test_an_entry_can_be_about_every_user_name(name: str, contributor: str | None) -> None:
    assert contributor_of(name) == contributor


LONG = sample(seed=1, contributor="bob", blocks=3)


def slower(submission: Submission, factor: float = 1.07) -> Submission:
    """All times of each trial multiplied."""
    trials = (_scaled(each, factor) for each in submission.trials)
    return replace(submission, trials=tuple(trials))


def _scaled(trial: Trial, factor: float) -> Trial:
    times = {each.name: getattr(trial, each.name) for each in fields(trial) if "_ms" in each.name}
    return replace(
        trial, **{name: ms * factor for name, ms in times.items() if isinstance(ms, float)}
    )


def with_entry(repository: Repository, name: str, status: str = "quarantined") -> None:
    """Put the long result and a maintainers' decision under this name on `main`."""
    repository.git("checkout", "--quiet", "main")
    repository.write(sample_bytes(LONG), name_of(LONG))
    decision = repository.path / "results" / "lifecycle" / name
    decision.parent.mkdir()
    decision.write_text(json.dumps({**ENTRY, "status": status}), encoding="utf-8")
    repository.commit()
    repository.git("checkout", "--quiet", "-B", "pull-request")


EVES = {"contributor": "eve", "notes": "Another machine"}


@pytest.mark.parametrize("status", ["quarantined", "withdrawn"])
@pytest.mark.parametrize(
    "again",
    [
        replace(LONG, **EVES),  # type: ignore[arg-type]
        replace(slower(LONG), **EVES),  # type: ignore[arg-type]
    ],
)
def test_an_ended_result_does_not_come_back_under_another_name(
    repository: Repository, status: str, again: Submission
) -> None:
    with_entry(repository, name_of(LONG), status)

    assert "ended-result" in rules(repository, again, EVE)


def test_a_new_measurement_after_a_quarantine_is_accepted(repository: Repository) -> None:
    with_entry(repository, name_of(LONG))

    assert rules(repository, sample(seed=2, contributor="bob", blocks=3), Sending()) == []


@pytest.mark.parametrize(
    ("contributor", "author", "expected"),
    [
        ("bob", "bob", ["contributor-ended"]),
        ("Bob", None, ["contributor-ended"]),
        (None, "bob", ["contributor-ended"]),
        ("eve", "eve", []),
    ],
)
def test_an_ended_contributor_sends_nothing_more(
    repository: Repository, contributor: str | None, author: str | None, expected: list[str]
) -> None:
    with_entry(repository, "contributor--bob.json")

    new = replace(SMALL, contributor=contributor)
    assert rules(repository, new, Sending(author=author)) == expected


def test_a_result_of_an_ended_contributor_does_not_come_back(repository: Repository) -> None:
    with_entry(repository, "contributor--bob.json")

    assert rules(repository, replace(slower(LONG), contributor="eve"), EVE) == ["ended-result"]


def test_a_known_contributor_has_an_entry_and_can_submit_again(repository: Repository) -> None:
    with_entry(repository, "contributor--bob.json", "known")

    assert rules(repository, replace(SMALL, contributor="bob"), Sending(author="bob")) == []


def test_a_broken_entry_in_the_base_is_a_failure_without_a_verdict(repository: Repository) -> None:
    with_entry(repository, "contributor--bob.json", "known")
    repository.git("checkout", "--quiet", "main")
    (repository.path / "results/lifecycle/contributor--bob.json").write_text("{}")
    repository.commit()
    repository.git("checkout", "--quiet", "-B", "pull-request")

    with pytest.raises(git.GitError, match="not a valid entry"):
        rules(repository, SMALL, EVE)


def test_a_serious_flag_is_in_the_title_of_the_comment(repository: Repository) -> None:
    plain = sample(blocks=3)
    in_turn = replace(plain, design=replace(plain.design, order="sequential"))
    assert rules(repository, in_turn, ADA) == []

    _, answer = answered(repository, ADA)

    assert comment.body(answer).startswith("## Well-formed, but with serious flags\n\nThank you.")
    assert "But 1 file with serious flags will get no verdict and no vote." in comment.body(answer)
    assert "but these have serious flags and get no vote" in reply.note(answer)


@pytest.mark.parametrize("is_new", [True, False])
def test_maintainers_are_asked_to_squash_and_learn_which_contributors_are_new(
    repository: Repository, *, is_new: bool
) -> None:
    with_entry(repository, f"contributor--{'eve' if is_new else 'ada'}.json", "known")
    assert rules(repository, SMALL, ADA) == []

    _, answer = answered(repository, ADA)

    assert reply.from_bytes(reply.to_bytes(answer)).is_new == is_new
    assert "For maintainers: merge with *squash*." in comment.body(answer)
    assert ("`ada` is new here." in comment.body(answer)) == is_new
    assert ("`results/lifecycle/contributor--ada.json`" in comment.body(answer)) == is_new
