"""The script of *Will it fit?* adds up what the planner adds up."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from answers.listed import model_label
from answers.model import Buffers, Memory, Setting
from answers.placement import Draft, LoadPlan, Projection, fit, free_of, largest_context
from answers.shapes import facts_of, quantisation_of, shape_of
from answers.speed import MachineSpeed, plain
from harness.plan.inputs import question_of
from harness.plan.options import ComputerOptions, LoadOptions, ModelOptions, SpeedOptions
from harness.plan.planner import plan
from pipeline.site.pages import fits
from tests.scripts import run

INPUTS, WITH_CONTEXT = 1000, 60
PROGRAM = """
import { modelOf, plan } from "./plan.js";
const answer = ({ file, asked }) => asked.map((wish) => {
  const found = plan(file, modelOf(file, wish.model), wish);
  const { layers, experts, device, host, fits, contextMax, tps, command } = found;
  return { layers, experts, device, host, fits, contextMax, tps, command, free: found.free };
});
"""


@pytest.fixture(scope="module")
def file() -> Any:  # noqa: ANN401 - JSON of any shape
    """The file as a page reads it."""
    return json.loads(json.dumps(fits.document()))


def wish(rng: random.Random, file: dict[str, Any]) -> dict[str, Any]:
    """A random question."""
    return {
        "model": rng.choice(file["models"])["id"],
        "quantisation": rng.choice(fits.QUANTISATIONS),
        "context": rng.choice((*fits.CONTEXTS, 1000, 5000)),
        "kv": rng.choice(fits.KV_TYPES),
        "draft": rng.choice(("none", "head", "model")),
        "memory": rng.choice((1, 2, 6, 8, 11, 12, 16, 24, 48, 96)),
        "ram": rng.choice((8, 32, 128)),
        "bandwidth": rng.choice((None, 272.0, 1008.0)),
        "shared": rng.choice((None, None, "Apple M2")),
    }


def case_of(asked: dict[str, Any], file: dict[str, Any]) -> LoadPlan:
    """The same question as `harness/plan/inputs.py` asks it."""
    shape = shape_of(asked["model"])
    assert shape is not None
    facts = facts_of(shape, quantisation_of(asked["quantisation"]), with_head=shape.head_layers > 0)
    head = asked["draft"] == "head" and shape.head_layers > 0
    setting = Setting(
        context=asked["context"],
        kv_k=asked["kv"],
        kv_v=asked["kv"],
        rollback_states=fits.HEAD_DEPTH if head and facts.recurrent else 0,
    )
    entry = next(each for each in file["models"] if each["id"] == shape.name)
    small = shape_of(entry["draft"]) if asked["draft"] == "model" and entry["draft"] else None
    host_mib, free_mib = asked["ram"] * 1024 - 2048.0, free_of(asked["memory"] * 1024)
    if asked.get("shared"):
        host_mib = asked["memory"] * 1024 - 2048.0
        free_mib = min(host_mib, asked["memory"] * 1024 * 0.75)
    return LoadPlan(
        target=facts,
        setting=setting,
        devices=(Memory(name="card", free_mib=free_mib),),
        host=Memory(name="host", free_mib=host_mib),
        unified=bool(asked.get("shared")),
        uses_head=head,
        draft=small
        and Draft(facts=facts_of(small, quantisation_of("Q8_0"), with_head=small.head_layers > 0)),
    )


def kinds(buffers: Buffers) -> dict[str, Any]:
    """A place's buffers as the page has them, to a tenth of a MiB."""
    found = buffers.by_kind()
    return {kind: pytest.approx(mib, abs=0.1) for kind, mib in found.items()}


def placed(found: Projection) -> dict[str, Any]:
    """What a projection says, as the page says it."""
    return {
        "layers": found.placement.layers,
        "experts": found.placement.cpu_experts,
        "device": kinds(found.devices[0]),
        "host": kinds(found.host),
        "fits": found.fits,
    }


def test_the_page_places_a_thousand_models_as_the_planner_does(
    tmp_path: Path, file: dict[str, Any]
) -> None:
    rng = random.Random(1)  # noqa: S311 - inputs of a test
    asked = [wish(rng, file) for _ in range(INPUTS)]

    answers = run(tmp_path, PROGRAM, {"file": file, "asked": asked})

    for question, answer in zip(asked, answers, strict=True):
        case = case_of(question, file)
        said = {name: answer[name] for name in ("layers", "experts", "device", "host", "fits")}
        assert said == placed(fit(case)), question


def test_the_page_states_the_planners_context_and_speed(
    tmp_path: Path, file: dict[str, Any]
) -> None:
    rng = random.Random(2)  # noqa: S311 - inputs of a test
    asked = [wish(rng, file) for _ in range(WITH_CONTEXT)]

    answers = run(tmp_path, PROGRAM, {"file": file, "asked": asked})

    for question, answer in zip(asked, answers, strict=True):
        case = case_of(question, file)
        alone = case.without_speculation()
        speed = MachineSpeed(device_gb_per_s=question["bandwidth"], host_gb_per_s=None)
        tps = plain(alone, fit(alone), speed)
        assert answer["contextMax"] == largest_context(case, fit(case).placement), question
        assert answer["tps"]["estimate"] == pytest.approx(tps.estimate, rel=1e-4)
        assert answer["tps"]["low"] == pytest.approx(tps.low, rel=1e-4)


def test_the_page_prints_the_command_of_harness_plan(
    tmp_path: Path, file: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # no collection here: speeds from bytes and bandwidth
    usual = {"context": 16384, "kv": "q8_0", "ram": 32}
    asked = [
        {"model": "qwen3-32b", "quantisation": "Q5_K_M", "draft": "none", "memory": 16, **usual},
        {"model": "qwen3-30b-a3b", "quantisation": "Q5_K_M", "draft": "none", "memory": 8, **usual},
        {"model": "qwen3.5-27b", "quantisation": "Q4_K_M", "draft": "head", "memory": 24, **usual},
        {"model": "qwen3-8b", "quantisation": "Q6_K", "draft": "model", "memory": 12, **usual},
    ]

    answers = run(tmp_path, PROGRAM, {"file": file, "asked": asked})

    for question, answer in zip(asked, answers, strict=True):
        draft = {"none": "none", "head": "mtp", "model": "qwen3-0.6b:Q8_0"}[question["draft"]]
        name = f"{question['model']}:{question['quantisation']}"
        planned = question_of(
            ModelOptions(target=name, draft=draft),
            load=LoadOptions(context=16384, kv_type="q8_0", depth=3),
            computer=ComputerOptions(vram=question["memory"], ram=32),
            speed=SpeedOptions(),
            say=lambda _: None,
        )
        found = plan(planned)
        # The page names files, the terminal a repository where one is known.
        named = re.compile(r"-(?:m|md|hf|hfd) \S+ ?")
        assert found.asked.line is not None
        assert named.sub("", answer["command"]) == named.sub("", found.asked.line.text)
        assert answer["layers"] == found.asked.found.placement.layers


def test_what_drafts_would_gain_is_predicted(tmp_path: Path, file: dict[str, Any]) -> None:
    program = """
    import { alternatives, modelOf } from "./plan.js";
    const wish = { memory: 12 };
    const answer = ({ file }) => alternatives(file, modelOf(file, "qwen3-8b"), wish).listed;
    """

    listed = run(tmp_path, program, {"file": file})

    drafts = [each for each in listed if each["words"].startswith("n-gram drafts")]
    others = [each for each in listed if each not in drafts]
    assert [re.sub(r"[\d.]+", "N", each["range"]) for each in drafts] == ["(N to N, predicted) "]
    assert [each["range"] for each in others] == [""] * len(others)


def test_names_are_printed_as_people_write_them() -> None:
    names = ("qwen3-30b-a3b", "llama-3.1-8b", "gpt-oss-20b", "phi-4", "smollm2-135m")

    labels = [model_label(name) for name in names]

    assert labels == ["Qwen3 30B-A3B", "Llama 3.1 8B", "gpt-oss-20b", "Phi 4", "SmolLM2 135M"]


def test_a_draft_is_a_much_smaller_model_of_the_same_family(file: dict[str, Any]) -> None:
    drafts = {model["id"]: model["draft"] for model in file["models"]}

    assert drafts["qwen3-14b"] == "qwen3-0.6b"
    assert drafts["llama-3.3-70b"] == "llama-3.2-1b"
    assert drafts["qwen2.5-1.5b"] is None
