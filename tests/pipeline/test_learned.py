"""The planner learns from the results, and its own errors are computed from them."""

import json
import shutil
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

from answers.learned import learned as shipped
from answers.learned import logged_memory_error
from estimates.summary import summarize
from pipeline.data.database import open_database
from pipeline.site.pages import learned_file
from tests.harness.plan.test_nearest import rate
from tests.pipeline.tables import RESULTS, Example, database, entry
from tests.samples import sample

# Planned and measured MiB of two results.
USED = ((319.0, 317.0), (199.0, 261.0))


def result(contributor: str, **machine: object) -> Example:
    submission = sample(
        tasks=("code",),
        prompts_per_task=3,
        contributor=contributor,
        **machine,  # type: ignore[arg-type]
    )
    target = replace(submission.target, name="Qwen2.5-7B-Instruct", quantisation="Q4_K_M")
    submission = replace(submission, target=target)
    return entry(submission, summarize(submission))


@pytest.fixture(scope="module")
def rates() -> tuple[learned_file.Rate, ...]:
    """Two results on a card with room for the model, one on a processor, one too small."""
    return learned_file.learned_rates(
        database(
            result("ada"),
            result("bob", seed=1),
            result("cyd", gpu=None, backend="cpu"),
            result("dan", gpu="NVIDIA GeForce GTX 1050", vram_mib=2048),
        )
    )


def test_a_result_gives_the_rate_of_its_device(rates: tuple[learned_file.Rate, ...]) -> None:
    cards = [rate for rate in rates if rate.device == "rtx 4060"]

    # 7.6 billion weights without the embedding are 4.3 GB; the sample takes about 20 ms a token,
    # 28 layers 0.56 ms of it to start.
    assert len(cards) == 2
    assert cards[0].model == "qwen2.5-7b"
    assert cards[0].gb_per_s == pytest.approx(4.3 / (1 / cards[0].tps - 0.00056), rel=0.03)


def test_a_model_only_partly_on_the_card_gives_no_rate(
    rates: tuple[learned_file.Rate, ...],
) -> None:
    assert {rate.device for rate in rates if not rate.on_cpu} == {"rtx 4060"}
    assert len([rate for rate in rates if rate.on_cpu]) == 1


def slow(contributor: str) -> Example:
    """A result that claims a tenth of the card's speed."""
    made = result(contributor, seed=9).submission
    trials = (
        replace(each, decode_ms=10 * each.decode_ms) for each in made.trials if each.decode_ms
    )
    made = replace(made, trials=tuple(trials))
    return entry(made, summarize(made))


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (("ada", "eve"), 0),  # nobody is known, and two do not agree
        (("eve",), 1),
        (("ada", "bob", "cyd", "eve"), 3),  # three agree
        ((), 2),
    ],
)
def test_a_rate_rests_on_known_people_or_on_three_who_agree(
    new: tuple[str, ...], expected: int
) -> None:
    honest = [result(name, seed=at) for at, name in enumerate(n for n in new if n != "eve")]
    honest = honest or [result("ada")]

    rates = learned_file.learned_rates(database(*honest, slow("eve"), new=new))

    assert len(rates) == expected


def test_the_memory_of_a_target_is_compared_with_its_plan(tmp_path: Path) -> None:
    """Only six results of one day are used, so later submissions do not matter."""
    folder = tmp_path / "community"
    folder.mkdir()
    for path in (RESULTS / folder.name).glob("amd-epyc--*--20261121-*.json"):
        shutil.copy(path, folder)
    used = learned_file.memory_used(open_database(tmp_path))

    # SmolLM2 135M in F16: 256.6 MiB of weights, 45 of cache for 2,048 tokens, 15.5 of buffers.
    assert len(used) == 5
    assert min(abs(planned - 319) for planned, _ in used) < 1
    assert all(abs(planned - measured) < 70 for planned, measured in used)


def test_the_errors_come_from_leaving_each_result_out(rates: tuple[learned_file.Rate, ...]) -> None:
    errors = learned_file.errors_of(rates, USED)
    words = list(learned_file.own_errors(errors))

    assert errors.speed is not None
    assert (errors.speed.points, errors.speed.devices) == (2, 1)
    assert errors.bare is not None
    assert errors.bare.points == 2
    assert words[0].startswith("device memory: median error ")
    assert words[1] == (
        "memory of 2 results in the collection: median error 32 MiB, maximum 62 MiB"
    )
    assert "from other results of it: within a factor of 1.25 for " in words[3]


def test_every_speed_is_predicted_from_the_others_of_its_device() -> None:
    # 200 is predicted as 240 and 240 as 200: 1.2 times off. 100 is 2.4 times off from 240, and
    # a single result of a card has no other.
    pair = [rate(4, 200), rate(4, 240)]
    far = [rate(4, 100, "b"), rate(4, 240, "b"), rate(4, 1, "alone")]

    good, all_of = learned_file.leave_one_out(pair), learned_file.leave_one_out([*pair, *far])

    assert good is not None
    assert (good.points, good.devices, good.within) == (2, 1, 1.0)
    assert good.median == pytest.approx(1.2)
    assert all_of is not None
    assert (all_of.points, all_of.devices, all_of.within) == (4, 2, 0.5)


def test_the_file_is_what_the_harness_reads(rates: tuple[learned_file.Rate, ...]) -> None:
    made = json.loads(learned_file.learned_file(rates, learned_file.errors_of(rates, USED)))
    file = json.loads(resources.files("answers").joinpath("learned.json").read_bytes())

    assert made.keys() == file.keys()
    assert made["errors"].keys() == file["errors"].keys()
    assert set(made["rates"][0]) == set(file["rates"][0])


def test_the_shipped_errors_meet_their_aim() -> None:
    errors = shipped().errors

    assert len(shipped().rates) > 40
    assert errors.speed is not None
    assert errors.speed.within >= 0.8
    assert logged_memory_error().cache_worst <= 0.02
    assert logged_memory_error().total_median_mib <= 150
