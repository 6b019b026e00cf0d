"""Does a result begin with the verdict in words and the command to use, on one small screen?"""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from estimates.model import Interval, Summary
from estimates.summary import summarize
from harness.report import brief
from schemas.contract import read
from schemas.method import NO_SPECULATION, Method
from schemas.submission import Submission
from schemas.vocabulary import say
from tests.harness.test_report import HURTS, NOTHING, estimate, three_arms
from tests.samples import sample

RESULTS = sorted(Path("results/community").glob("*.json"))


def brief_of(submission: Submission, summary: Summary, **known: Path) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=80, no_color=True, highlight=False)
    files = {name.replace("_", "-"): path for name, path in known.items()}
    brief.show(submission, summary, console, path=Path("result.json"), files=files)
    return out.getvalue().splitlines()


def only(*estimates: object) -> Summary:
    return Summary(estimates=estimates, prompts=(), flags=())  # type: ignore[arg-type]


def paragraph(lines: list[str], start: str) -> str:
    """The lines from the one that begins so to the next blank one, as one text."""
    began = next(number for number, line in enumerate(lines) if line.startswith(start))
    ended = next((n for n in range(began, len(lines)) if not lines[n]), len(lines))
    return " ".join(line.strip() for line in lines[began:ended])


@pytest.mark.parametrize("path", RESULTS, ids=[path.stem[-8:] for path in RESULTS])
def test_every_result_of_the_repository_fits_on_a_small_screen(path: Path) -> None:
    submission = read(path.read_bytes())
    assert isinstance(submission, Submission)

    lines = brief_of(submission, summarize(submission))

    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


def test_many_arms_and_doubts_still_fit_on_it() -> None:
    submission, summary = three_arms()
    arms = [replace(submission.arms[1], id=f"draft-model-n{number}") for number in range(1, 21)]
    estimates = [estimate(arm.id, task) for arm in arms for task in ("code", None)]
    flags = summary.flags * 30

    lines = brief_of(
        replace(submission, arms=(submission.arms[0], *arms)),
        replace(summary, estimates=tuple(estimates), flags=flags),
    )

    assert len(lines) <= 24
    assert "  and 14 more" in lines


def test_an_arm_that_helps_is_the_answer_and_its_command_the_next_step() -> None:
    submission, _ = three_arms()
    whole = estimate("draft-model-n4", None, baseline_tps=20.0, tps=30.0)

    lines = brief_of(submission, only(whole))

    assert paragraph(lines, "Yes").startswith("Yes: draft-model-n4 makes ")
    assert "at 1.50× (1.25 to 1.80) the speed of plain decoding." in paragraph(lines, "Yes")  # noqa: RUF001 - as printed
    command = paragraph(lines, "Use it:")
    assert "llama-server -m " in command
    assert " -md " in command
    assert command.replace(" \\", "").endswith(
        "--spec-type draft-simple --spec-draft-n-max 4 --spec-draft-n-min 0 --spec-draft-p-min 0"
    )
    row = next(line.split() for line in lines if line.startswith("  draft-model-n4"))
    assert row == ["draft-model-n4", "30.0", "1.50×", "(1.25", "to", "1.80)", "helps"]  # noqa: RUF001 - as printed


def test_the_command_names_the_measured_files_where_they_are_known() -> None:
    submission, _ = three_arms()
    target, draft = submission.target.id, submission.drafts[0].id
    whole = estimate("draft-model-n4", None)

    known = {target.replace("-", "_"): Path("a b.gguf"), draft.replace("-", "_"): Path("d.gguf")}
    command = paragraph(brief_of(submission, only(whole), **known), "Use it:")

    assert "llama-server -m 'a b.gguf' -md d.gguf" in command


def test_where_everything_is_slower_the_command_is_the_target_alone() -> None:
    submission, _ = three_arms()

    lines = brief_of(submission, only(estimate("draft-model-n4", None, **HURTS)))

    assert paragraph(lines, "No:").startswith("No: speculative decoding makes ")
    assert "runs at 0.60× (0.50 to 0.72) the plain speed." in paragraph(lines, "No:")  # noqa: RUF001 - as printed
    assert "--spec-type" not in paragraph(lines, "Leave it off:")


def test_an_arm_that_helps_on_one_kind_of_text_is_offered_for_that() -> None:
    submission, _ = three_arms()
    flat = Interval(low=0.9, high=1.3)
    whole = estimate("draft-model-n4", None, verdict="no-clear-difference", interval=flat)

    lines = brief_of(submission, only(estimate("draft-model-n4", "code"), whole))

    assert "For code alone it is faster." in paragraph(lines, "No clear gain")
    assert "--spec-type draft-simple" in paragraph(lines, "Use it for code:")


def test_an_arm_that_failed_is_no_answer() -> None:
    submission, _ = three_arms()

    lines = brief_of(submission, only(estimate("draft-model-n9", None, **NOTHING)))

    assert paragraph(lines, "No answer").endswith("could be measured on RTX 4060 8 GB.")
    row = next(line.split() for line in lines if line.startswith("  draft-model-n9"))
    assert row == ["draft-model-n9", say.UNKNOWN, say.UNKNOWN, "failed"]


@pytest.mark.parametrize(
    ("role", "method", "said"),
    [
        ("baseline", NO_SPECULATION, "Only plain decoding was measured for "),
        ("control", Method(type="empty-draft"), "Only controls were measured for "),
        (
            "control",
            Method(type="forced", length=2.5, n_max=4),
            "Acceptance was set, so this says what a round ",
        ),
    ],
)
def test_what_has_no_method_among_its_arms_says_what_it_measured_instead(
    role: str, method: Method, said: str
) -> None:
    submission = sample(prompts_per_task=1)
    baseline = submission.arms[0]
    arm = replace(baseline, id="other", role=role, method=method, baseline=baseline.id)

    lines = brief_of(replace(submission, arms=(baseline, arm)[: 1 + (role == "control")]), only())

    assert lines[0].startswith(said)


def test_a_campaign_of_some_tasks_says_which_instead_of_that_too_little_was_measured() -> None:
    submission, _ = three_arms()
    whole = estimate("draft-model-n4", None, **NOTHING | {"verdict": "too-few-prompts"})

    code, chat = (estimate("draft-model-n4", task) for task in ("code", "chat"))

    lines = brief_of(submission, only(code, chat, whole))

    assert paragraph(lines, "No verdict over all tasks").endswith(
        "on code and chat only. For code and chat alone it is faster."
    )


def test_lookup_in_process_names_the_servers_nearest_method() -> None:
    submission, _ = three_arms()

    command = paragraph(brief_of(submission, only(estimate("prompt-lookup-n4", None))), "Use it:")

    assert "--spec-type ngram-simple" in command
    assert "--spec-ngram-simple-size-m 4" in command
    assert "ngram-simple, which is not what was measured" in command
    assert "measure it, too (--runner llama-server --method ngram-simple)" in command


def test_the_best_arm_comes_first_and_one_that_never_drafted_last() -> None:
    submission, _ = three_arms()
    idle = estimate("prompt-lookup-n4", None, verdict="never-drafted", speedup=9.0)

    lines = brief_of(submission, only(idle, estimate("draft-model-n4", None, **HURTS)))

    rows = [line.split()[0] for line in lines if line.startswith("  ") and "×" in line]  # noqa: RUF001 - as printed
    assert rows == ["draft-model-n4", "prompt-lookup-n4"]
