"""A tune chooses its candidates and engines, and shows the remaining time."""

import sys
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from harness import PROGRAM
from harness.campaign import suite
from harness.campaign.method_parser import parse
from harness.campaign.model import PlannedTrial
from harness.cli import app
from harness.errors import BadInputError
from harness.report.events import TrialEnded, TrialsPlanned
from harness.run.chosen_engine import ChosenEngine
from harness.runners.options import ConnectionOptions
from harness.tune.search import families, split, stage
from harness.tune.tune_clock import TuneClock
from harness.tune.tune_request import Stages, run_again
from tests.harness.campaigns import campaign

CORE = suite.load("core")


def test_the_time_left_covers_the_stages_that_follow_and_ends_with_the_budget() -> None:
    now = [0.0]
    trial = PlannedTrial(order=0, block=0, prompt="code-one", arm="baseline")
    left = TuneClock(1000.0, lambda: now[0], {}, split(CORE.prompts))

    before = left.remaining_s("look")
    left.observe(TrialsPlanned(total=16))
    now[0] = 1.0
    left.observe(TrialEnded(trial=trial))

    assert before is None
    # 15 of the look; 8 prompts, 5 arms, 4 blocks; 24 prompts, 3 arms, 2 blocks: a second for each.
    assert left.remaining_s("look") == 15 + 160 + 144
    assert left.remaining_s("race") == 15 + 144
    now[0] = 950.0
    assert left.remaining_s("race") == 50.0
    now[0] = 999.0  # a block of twelve that was started is finished; the look ends with its share
    assert left.remaining_s("race") == 12.0
    assert left.remaining_s("look") == 1.0


def test_settings_that_a_tune_decides_are_not_options() -> None:
    result = CliRunner().invoke(app, ["tune", "--blocks", "3"])

    assert result.exit_code == 2
    with pytest.raises(BadInputError, match="no method speculates"):
        families((parse("none"),), (), deepest=4)
    with pytest.raises(BadInputError):
        split(CORE.prompts[:3])


def test_a_servers_command_is_written_with_the_depth_of_the_arm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shutil.which", lambda program: program)
    plain = replace(campaign(), interleaved="block")
    found = families((parse("draft-model"),), plain.drafts, deepest=4)
    connection = ConnectionOptions(
        server_command="serve big --port {port}",
        spec_server_commands=("serve big --port {port} --depth {depth}",),
    )
    stages = Stages(chosen=ChosenEngine(runner="openai", connection=connection), families=found)
    arms = [found[0].arms[depth] for depth in (2, 4)]
    planned = stage(plain, arms, plain.suite.prompts, blocks=1)

    lines = [stages.command(planned, arm) for arm in (arms[0], planned.arms[0])]
    assert [line and line.text for line in lines] == [
        "serve big --port 8000 --depth 2",
        "serve big --port 8000",
    ]
    assert stages.at(planned)[0].interleaved == "block"


def test_a_chain_is_raced_as_it_is_and_keeps_its_draft() -> None:
    plain = campaign()

    (found,) = families((parse("ngram-mod+draft-model"),), plain.drafts, deepest=8)
    planned = stage(plain, [found.arms[0]], plain.suite.prompts, blocks=1)

    assert found.name == "N-gram mod, then Draft model"
    assert list(found.arms) == [0]
    assert planned.drafts == plain.drafts


@pytest.mark.parametrize(
    ("deepest", "scouted"), [(16, [2, 4, 8, 16]), (8, [2, 8]), (4, [1, 2, 4]), (1, [1])]
)
def test_without_step_times_a_family_is_scouted_at_several_depths(
    deepest: int, scouted: list[int]
) -> None:
    (found,) = families((parse("ngram-simple"),), (), deepest=deepest)

    assert [arm.method.n_max for arm in found.scouts(probed=False)] == scouted
    assert [arm.method.n_max for arm in found.scouts(probed=True)] == [deepest]


def test_the_winner_of_a_tune_is_measured_again_by_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    given = "x tune --resume --target a --draft b --method draft-model --method=mtp --budget 5 -o r"
    monkeypatch.setattr(sys, "argv", [*given.split(), "--deepest=4", "--threads", "8"])

    assert run_again(parse("draft-model:n_max=3")) == (
        f"{PROGRAM} run --target a --draft b --threads 8 --method draft-model:n_max=3"
    )
    assert run_again(parse("mtp")) == (
        f"{PROGRAM} run --target a --draft b --threads 8 --method mtp:n_max=3"
    )
    assert " --draft " not in run_again(parse("ngram-simple"))


def test_a_limit_that_is_too_short_for_a_pick_is_refused_or_grows_after_three_answers() -> None:
    now_s = 0.0
    clock = TuneClock(60.0, lambda: now_s, {}, split(CORE.prompts))
    trial = PlannedTrial(order=0, block=0, prompt="a", arm="baseline")
    for now_s in (8.0, 10.0):  # noqa: B007 - read by the clock
        clock.observe(TrialEnded(trial=trial, again_s=2.0))
        clock.require_pick(grows=False)

    now_s = 12.0
    clock.observe(TrialEnded(trial=trial, again_s=2.0))
    # 12 s so far, then twice twelve answers of 2 s, with half as much again for loading.
    with pytest.raises(BadInputError, match=r"--budget 1 .* a pick takes about 84 s .*budget 2$"):
        clock.require_pick(grows=False)
    clock.require_pick(grows=True)
    assert clock.limit_s == 120.0
