"""A result begins with its verdict in words and the command to use, on one small screen."""

# ruff: noqa: RUF001 - texts as they are printed

import io
from dataclasses import replace
from math import exp
from pathlib import Path

import pytest
from rich.console import Console

from estimates.model import AnswerLength, Interval, Summary
from estimates.summary import summarize
from harness.report import brief
from harness.report.use import LocalFiles
from schemas.contract import read
from schemas.method import NO_SPECULATION, Method
from schemas.submission import Submission
from schemas.vocabulary import say
from tests.first_results import FIRST
from tests.harness.report.test_report import HURTS, NOTHING, estimate, three_arms
from tests.samples import sample

MEASURED, _ = three_arms()


def brief_of(submission: Submission, summary: Summary, **known: Path) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=80, no_color=True, highlight=False)
    files = {name.replace("_", "-"): path for name, path in known.items()}
    brief.show(
        submission, summary, console, path=Path("result.json"), local_files=LocalFiles(files=files)
    )
    return out.getvalue().splitlines()


def only(*estimates: object) -> Summary:
    return Summary(estimates=estimates, prompts=(), flags=())  # type: ignore[arg-type]


def paragraph(lines: list[str], start: str) -> str:
    """The paragraph that begins with these words, as one line."""
    began = next(number for number, line in enumerate(lines) if line.startswith(start))
    ended = next((n for n in range(began, len(lines)) if not lines[n]), len(lines))
    return " ".join(line.strip() for line in lines[began:ended])


def test_an_arm_that_never_drafted_is_not_chosen() -> None:
    (path,) = (each for each in FIRST if each.stem.endswith("27e1ba79"))
    submission = read(path.read_bytes())
    assert isinstance(submission, Submission)

    lines = brief_of(submission, summarize(submission))

    # The other arm is the only setting, so its interval is the same as on its page.
    assert lines[0].startswith("1.24\u00d7 [1.15, 1.33], but no verdict")


@pytest.mark.parametrize("path", FIRST, ids=lambda path: path.stem[-8:])
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
    assert any(line.startswith("  and ") and line.endswith(" more") for line in lines)


def test_an_arm_that_helps_is_the_answer_and_its_command_the_next_step() -> None:
    whole = estimate(
        "draft-model-n4",
        None,
        baseline_tps=20.0,
        tps=30.0,
        whole_request=1.38,
        whole_request_interval=Interval(low=1.25, high=1.52),
    )
    tasks = [estimate("draft-model-n4", "code", speedup=1.9), estimate("draft-model-n4", "chat")]

    lines = brief_of(MEASURED, only(*tasks, whole))

    assert paragraph(lines, "Yes") == (
        "Yes. draft-model-n4 writes 30.0 tokens/s where plain decoding writes 20.0: "
        "1.50× [1.25, 1.80]. Whole answers, prompt included: 1.38× [1.25, 1.52]. "
        "Most on code (1.90×), least on chat (1.50×)."
    )
    command = paragraph(lines, "Use it:")
    assert "llama-server -m " in command
    assert " -md " in command
    assert command.replace(" \\", "").endswith(
        "--spec-type draft-simple --spec-draft-n-max 4 --spec-draft-n-min 0 --spec-draft-p-min 0"
    )
    row = next(line.split() for line in lines if line.startswith("  draft-model-n4"))
    assert row == ["draft-model-n4", "20.0", "30.0", "1.50×", "1.38×", "helps"]


def test_the_best_of_several_is_held_to_a_bound_that_allows_for_the_choice() -> None:
    # With Student's t of 7 degrees of freedom, the best of two has its lower bound
    # 2.998 / 2.365 = 1.268 times as far away: 1.20 (1.06 / 1.20)^1.268 = 1.025.
    close = Interval(low=1.06, high=1.33)
    first = estimate("draft-model-n4", None, speedup=1.2, interval=close)
    second = estimate("prompt-lookup-n4", None, speedup=1.1, interval=Interval(low=1.0, high=1.2))

    alone, both = (brief_of(MEASURED, only(*found)) for found in ((first,), (first, second)))

    assert "1.20× [1.06, 1.33]" in paragraph(alone, "Yes.")
    said = paragraph(both, "Not clear yet. draft-model-n4, the best of 2 settings, writes")
    assert "1.20× [1.03, 1.33]: probably a gain, not yet certain." in said
    assert "Use it:" not in both


def test_an_arm_that_is_faster_to_write_and_slower_in_all_is_for_long_answers_only() -> None:
    whole = estimate(
        "draft-model-n4",
        None,
        verdict="slower-in-all",
        speedup=1.08,
        interval=Interval(low=1.03, high=1.13),
        whole_request=0.52,
        whole_request_interval=Interval(low=0.48, high=0.56),
        mean_output_tokens=96.0,
        baseline_reading_ms=600.0,
        reading_ms=1500.0,
        pays_from=AnswerLength(tokens=1734.0, low=1104.0, high=4391.0),
    )

    lines = brief_of(MEASURED, only(whole))

    said = paragraph(lines, "Only for long answers. draft-model-n4 writes")
    assert said.endswith(
        "1.08× [1.03, 1.13]. But reading the prompt takes 0.9 s longer: whole answers of 96 "
        "tokens are 0.52× [0.48, 0.56]. It saves time for answers of about 1,700 tokens (1,100 to "
        "4,400) or more."
    )
    assert "--spec-type" not in paragraph(lines, "Leave speculation off:")


def test_an_imprecise_figure_says_what_it_excludes() -> None:
    interval = Interval(low=exp(0.04 - 0.11), high=exp(0.04 + 0.11))
    whole = estimate(
        "draft-model-n4", None, verdict="no-clear-difference", speedup=1.04, interval=interval
    )

    said = paragraph(brief_of(MEASURED, only(whole)), "Not clear yet.")

    assert "1.04× [0.93, 1.16]: no gain above 16 % and no loss above 7 %." in said


def test_without_a_figure_the_reason_follows_at_once() -> None:
    nothing = {"speedup": None, "interval": None, "verdict": "uncertain", "doubt": "few-prompts"}
    none = estimate("draft-model-n4", None, **nothing)

    said = paragraph(brief_of(MEASURED, only(none)), "Not clear yet.")

    assert said.startswith("Not clear yet. No verdict: fewer than three prompts were compared.")


def test_a_clear_but_doubtful_figure_says_why_it_has_no_verdict() -> None:
    _, summary = three_arms()
    (flag,) = summary.flags
    texts = replace(flag, name="diverged", severity="serious", message="The outputs differ.")
    doubted = {**HURTS, "verdict": "uncertain", "doubt": "diverged"}
    found = replace(only(estimate("draft-model-n4", None, **doubted)), flags=(texts,))

    said = paragraph(brief_of(MEASURED, found), "0.60× [0.50, 0.72], but no verdict: ")

    assert "but no verdict: the outputs differ. Close other programs" in said
    assert "draft-model-n4 writes 12.0 tokens/s where plain decoding writes" in said
    assert said.count("0.60×") == 1


@pytest.mark.parametrize(
    ("speedup", "opening", "heading"),
    [
        (2.0, "Faster.", "To use it, although the arms did not alternate:"),
        (0.4, "Slower.", "Leave speculation off:"),
    ],
)
def test_a_difference_beyond_drift_has_the_command_that_follows_from_it(
    speedup: float, opening: str, heading: str
) -> None:
    order = {"verdict": "uncertain", "doubt": "not-interleaved", "speedup": speedup}
    interval = Interval(low=speedup * 0.9, high=speedup * 1.1)

    lines = brief_of(MEASURED, only(estimate("draft-model-n4", None, **order, interval=interval)))

    assert lines[0].startswith(opening)
    assert heading in lines


@pytest.mark.parametrize(("flags", "said"), [(2, "One other doubt."), (3, "2 other doubts.")])
def test_doubts_beyond_the_first_are_counted_in_words(flags: int, said: str) -> None:
    _, summary = three_arms()
    (flag,) = summary.flags
    doubts = (replace(flag, severity="serious", message="The outputs differ."),) * flags

    lines = brief_of(MEASURED, replace(only(estimate("draft-model-n4", None)), flags=doubts))

    assert f"The outputs differ. {said} " in paragraph(lines, "Doubt (") + " "


def test_a_figure_that_is_only_a_bound_is_printed_as_one() -> None:
    whole = estimate("draft-model-n4", None, at_most=True, baseline_tps=20.0, tps=30.0)

    lines = brief_of(MEASURED, only(whole))

    said = paragraph(lines, "Yes.")
    assert "writes at most 30.0 tokens/s where plain decoding writes 20.0: ≤1.50×" in said
    assert "the true figure may be lower" in said
    row = next(line.split() for line in lines if line.startswith("  draft-model-n4"))
    assert row[2:4] == ["≤30.0", "≤1.50×"]


def test_unknown_prompt_times_are_stated() -> None:
    trials = tuple(replace(trial, prompt_ms=None) for trial in MEASURED.trials)
    unknown = replace(MEASURED, trials=trials)

    lines = brief_of(unknown, only(estimate("draft-model-n4", None)))

    assert "Prompt time was not recorded." in paragraph(lines, "Yes.")


def test_an_unknown_prompt_time_of_the_draft_makes_the_request_an_upper_bound() -> None:
    lines = brief_of(MEASURED, only(estimate("draft-model-n4", None)))

    said = paragraph(lines, "Yes.")
    assert "at most 1.64×; the draft's time to read the prompt is unknown" in said
    assert "≤1.64×" in next(line for line in lines if line.startswith("  draft-model-n4"))


def test_the_command_names_the_measured_files_if_known() -> None:
    target, draft = MEASURED.target.id, MEASURED.drafts[0].id
    whole = estimate("draft-model-n4", None)

    known = {target.replace("-", "_"): Path("a b.gguf"), draft.replace("-", "_"): Path("d.gguf")}
    command = paragraph(brief_of(MEASURED, only(whole), **known), "Use it:")

    assert "llama-server -m 'a b.gguf' -md d.gguf" in command


def test_if_every_arm_is_slower_the_command_has_no_speculation() -> None:
    lines = brief_of(MEASURED, only(estimate("draft-model-n4", None, **HURTS)))

    assert "0.60× [0.50, 0.72]." in paragraph(lines, "No. draft-model-n4 writes ")
    assert "--spec-type" not in paragraph(lines, "Leave speculation off:")


def test_an_arm_that_gains_on_some_tasks_and_loses_on_others_depends() -> None:
    strong = Interval(low=1.5, high=1.9)
    tasks = [
        estimate("draft-model-n4", "code", speedup=1.6, interval=strong),
        estimate("draft-model-n4", "json", speedup=1.9, interval=strong),
        estimate("draft-model-n4", "chat", **HURTS),
    ]

    lines = brief_of(MEASURED, only(*tasks, estimate("draft-model-n4", None)))

    assert paragraph(lines, "It depends.") == (
        "It depends. draft-model-n4 is 1.60–1.90× on code and json and 0.60× on chat; over all "
        "tasks 1.50× [1.25, 1.80]. Whole answers, prompt included: at most 1.64×; the draft's "
        "time to read the prompt is unknown. Leave speculation off for chat, per request if the "
        "server supports that."
    )
    assert "--spec-type draft-simple" in paragraph(lines, "To use this setting (but not for chat):")


def test_an_arm_that_helps_on_one_kind_of_text_is_offered_for_that() -> None:
    flat = Interval(low=0.9, high=1.3)
    whole = estimate("draft-model-n4", None, verdict="no-clear-difference", interval=flat)

    lines = brief_of(MEASURED, only(estimate("draft-model-n4", "code"), whole))

    assert "1.50× on code; over all tasks" in paragraph(lines, "It depends.")
    assert "--spec-type draft-simple" in paragraph(lines, "To use this setting for code:")


def test_an_arm_that_failed_is_not_the_answer() -> None:
    lines = brief_of(MEASURED, only(estimate("draft-model-n9", None, **NOTHING)))

    assert (
        lines[0] == "No answer. draft-model-n9 could not be measured; --details shows the reason."
    )
    row = next(line.split() for line in lines if line.startswith("  draft-model-n9"))
    assert row == ["draft-model-n9", *[say.UNKNOWN] * 4, "failed"]


@pytest.mark.parametrize(
    ("role", "method", "said"),
    [
        ("baseline", NO_SPECULATION, "Only plain decoding was measured for "),
        ("control", Method(type="empty-draft"), "Only controls were measured for "),
        (
            "control",
            Method(type="forced", length=2.5, n_max=4),
            "Acceptance was set to a fixed value, so this result shows the cost of ",
        ),
    ],
)
def test_a_report_without_a_method_names_the_arms_that_it_has(
    role: str, method: Method, said: str
) -> None:
    submission = sample(prompts_per_task=1)
    baseline = submission.arms[0]
    arm = replace(baseline, id="other", role=role, method=method, baseline=baseline.id)

    lines = brief_of(replace(submission, arms=(baseline, arm)[: 1 + (role == "control")]), only())

    assert lines[0].startswith(said)


def test_a_campaign_of_some_tasks_answers_for_these() -> None:
    whole = estimate("draft-model-n4", None, **NOTHING | {"verdict": "too-few-prompts"})

    code, chat = (estimate("draft-model-n4", task) for task in ("code", "chat"))

    lines = brief_of(MEASURED, only(code, chat, whole))

    # As the best of two figures: 1.50 (1.25 / 1.50)^1.268 = 1.19.
    assert paragraph(lines, "Yes, for code and chat.") == (
        "Yes, for code and chat. draft-model-n4 is 1.50× [1.19, 1.80] on code and 1.50× "
        "[1.19, 1.80] on chat. Other tasks were not measured."
    )
    rows = [line.split()[1] for line in lines if line.startswith("  draft-model-n4")]
    assert rows == ["code", "chat"]


def test_a_long_path_is_whole_and_on_one_line() -> None:
    path = Path("/models") / f"{'long name ' * 9}.gguf"
    target = MEASURED.target.id.replace("-", "_")

    lines = brief_of(MEASURED, only(estimate("draft-model-n4", None, **HURTS)), **{target: path})

    assert lines[lines.index("Leave speculation off:") + 1] == f"  llama-server -m '{path}'"


def test_the_server_that_was_measured_is_the_one_to_start() -> None:
    out = io.StringIO()
    console = Console(file=out, width=80, no_color=True, highlight=False)
    local_files = LocalFiles(server="/opt/llama-server-vulkan")

    brief.show(
        MEASURED,
        only(estimate("draft-model-n4", None, **HURTS)),
        console,
        path=Path("r"),
        local_files=local_files,
    )

    assert "  /opt/llama-server-vulkan -m " in out.getvalue()


def test_the_best_arm_comes_first_and_one_that_never_drafted_last() -> None:
    idle = estimate("prompt-lookup-n4", None, verdict="never-drafted", speedup=9.0)

    lines = brief_of(MEASURED, only(idle, estimate("draft-model-n4", None, **HURTS)))

    rows = [line.split()[0] for line in lines if line.startswith("  ") and "×" in line]
    assert rows == ["draft-model-n4", "prompt-lookup-n4"]
