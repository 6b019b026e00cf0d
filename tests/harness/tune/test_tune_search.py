"""A tune chooses its candidates and engines, and shows the remaining time."""

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from harness.campaign import suite
from harness.campaign.method_parser import parse
from harness.campaign.model import PlannedTrial
from harness.cli import app
from harness.errors import BadInputError
from harness.report.events import TrialEnded
from harness.run.chosen_engine import ChosenEngine
from harness.runners.options import ConnectionOptions
from harness.tune.search import families, split, stage
from harness.tune.tune_clock import TuneClock
from harness.tune.tune_request import Stages
from schemas.vocabulary import FIXED_TASKS
from tests.harness.campaigns import campaign

CORE = suite.load("core")


def test_settings_that_a_tune_decides_are_not_options() -> None:
    result = CliRunner().invoke(app, ["tune", "--blocks", "3"])

    assert result.exit_code == 2
    with pytest.raises(BadInputError, match="no method speculates"):
        families((parse("none"),), (), deepest=4)
    with pytest.raises(BadInputError):
        split(CORE.prompts[:3])


def test_a_stage_starts_a_server_for_each_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda program: program)
    plain = replace(campaign(), interleaved="block")
    found = families((parse("draft-model"),), plain.drafts, deepest=4)
    connection = ConnectionOptions(
        server_command="serve big --port {port}",
        spec_server_commands=("serve big --port {port} --depth {depth}",),
    )
    stages = Stages(chosen=ChosenEngine(runner="openai", connection=connection), families=found)
    arms = [found[0].arms[depth] for depth in (2, 4)]

    measured, _ = stages.at(stage(plain, arms, plain.suite.prompts, blocks=1))

    assert measured.interleaved == "block"
    assert [depth for depth in (2, 3, 4) if f"--depth {depth}" in (measured.engine or "")] == [2, 4]


def test_a_chain_is_tried_as_it_is_and_keeps_its_draft() -> None:
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


def test_a_limit_that_is_too_short_for_a_pick_is_refused_or_grows_after_three_answers() -> None:
    now_s = 0.0
    clock = TuneClock(60.0, lambda: now_s, {})
    trial = PlannedTrial(order=0, block=0, prompt="a", arm="baseline")
    for now_s in (8.0, 10.0):  # noqa: B007 - read by the clock
        clock.observe(TrialEnded(trial=trial, again_s=2.0))
        clock.require_pick(grows=False)

    now_s = 12.0
    clock.observe(TrialEnded(trial=trial, again_s=2.0))
    # 12 s so far, then 24 answers of 2 s, with half as much again for loading.
    with pytest.raises(BadInputError, match=r"--budget 1 .* a pick takes about 84 s .*budget 2$"):
        clock.require_pick(grows=False)
    clock.require_pick(grows=True)
    assert clock.limit_s == 120.0


def test_a_short_certificate_has_as_many_prompts_of_each_task() -> None:
    # Two blocks of half a second in 60 s are 60 trials a block: four settings and the baseline
    # answer 12 prompts. In 27 s two settings answer 9, and in 6 s nothing fits.
    whole = split([prompt for prompt in CORE.prompts if prompt.task in FIXED_TASKS])
    found = [whole.fitting(trial_s=0.5, left_s=left_s) for left_s in (60.0, 27.0, 6.0)]

    assert [most for most, _ in found] == [4, 2, 2]
    for _, prompts in found:
        assert len(prompts) == len({prompt.task for prompt in prompts}) == 8
