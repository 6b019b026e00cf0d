"""`verify` repeats prompts of a result and checks that answers and rounds are the same."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from harness.cli import app
from harness.verify.verification import Repeated, verdict
from schemas import contract
from schemas.submission import Submission
from tests.samples import sample, sample_bytes

COMMUNITY = Path(__file__).resolve().parents[3] / "results" / "community"
REAL = "intel-xeon-processor--smollm2-135m-instruct-f16--20261123-f243c777.json"


def verified(file: Path, *more: str) -> Result:
    return CliRunner().invoke(app, ["verify", str(file), *more])


def real() -> Submission:
    """A result of the embedded model, in-process."""
    found = contract.read((COMMUNITY / REAL).read_bytes())
    assert isinstance(found, Submission)
    return found


def written(folder: Path, submission: Submission) -> Path:
    path = folder / "result.json"
    path.write_bytes(sample_bytes(submission))
    return path


@pytest.mark.nightly
@pytest.mark.engine
def test_a_real_result_agrees() -> None:
    prompt = min(real().suite.prompts, key=lambda each: each.tokens or 0).id

    done = verified(COMMUNITY / REAL, "--prompts", prompt, "--json")

    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["verdict"] == "agrees"
    assert {each["arm"] for each in found["repeated"]} == {arm.id for arm in real().arms}
    assert all(each["same_prompt"] and each["same_answer"] for each in found["repeated"])
    assert f"baseline: {prompt}" in done.stderr


SAMPLED: dict[str, Any] = {"sampling": "other", "temperature": 0.7, "sampling_seed": 1}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"settings": replace(real().settings, **SAMPLED)}, "its answers were sampled"),
        ({"suite": replace(real().suite, id="mine", sha256="f" * 64)}, "suite mine 1.0.0"),
        (
            {"target": replace(real().target, sha256="ab" * 32)},
            "use --target to give the GGUF file",
        ),
    ],
    ids=["sampled", "suite", "weights"],
)
def test_a_result_that_cannot_be_repeated_is_refused_in_one_line(
    tmp_path: Path, changed: dict[str, object], said: str
) -> None:
    done = verified(written(tmp_path, replace(real(), **changed)))  # type: ignore[arg-type]

    assert done.exit_code == 2, done.stdout
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


def test_results_without_digests_padded_prompts_and_unknown_prompts_are_refused(
    tmp_path: Path,
) -> None:
    server = replace(sample(), engine=replace(sample().engine, runner="openai", name="vLLM"))
    trials = tuple(replace(each, output_sha256=None) for each in server.trials)
    bare = replace(server, trials=trials, probes=None)

    assert "has no answer digests" in verified(written(tmp_path, bare)).stderr
    deep = COMMUNITY / REAL.replace("f243c777", "045ca858")
    assert "padded to a context depth" in verified(deep).stderr
    unknown = verified(COMMUNITY / REAL, "--prompts", "code-nope").stderr
    assert "the result has no prompt 'code-nope'" in unknown


SAME, OTHER, ODD, NONE = (True, True), (True, False), (False, False), (True, None)


def repeated(
    same: tuple[bool, bool | None], stated: float, own: float, *, engine: bool = True
) -> Repeated:
    prompt, answer = same
    return Repeated(
        arm="a",
        prompt="p",
        same_engine=engine,
        same_prompt=prompt,
        same_answer=answer,
        stated_tokens_per_round=stated,
        own_tokens_per_round=own,
    )


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([repeated(SAME, 2.9, 2.9), repeated(SAME, 1.0, 1.0)], "agrees"),
        # An answer may part at a near-tie, and takes other rounds then.
        ([repeated(SAME, 2.9, 2.8), repeated(OTHER, 2.9, 1.9)], "agrees"),
        # 2.9 / 2.6 is 1.115.
        ([repeated(SAME, 2.9, 2.6), repeated(SAME, 1.0, 1.0)], "differs"),
        ([repeated(SAME, 2.6, 2.9)], "differs"),
        ([repeated(OTHER, 2.9, 2.9)], "differs"),
        ([repeated(SAME, 2.6, 2.9, engine=False)], "differs-by-engine"),
        ([repeated(SAME, 2.9, 2.9, engine=False)], "agrees"),
        ([repeated(NONE, 2.9, 2.9)], "not-comparable"),
        ([repeated(ODD, 2.9, 2.9)], "not-comparable"),
        ([], "not-comparable"),
    ],
)
def test_the_verdict_on_repeated_answers(found: list[Repeated], said: str) -> None:
    assert verdict(found) == said
