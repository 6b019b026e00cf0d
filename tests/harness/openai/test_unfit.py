"""A server that contradicts its arm is refused before the campaign starts."""

from dataclasses import replace
from typing import Any

import pytest

from harness.openai.listed_models import Served, difference
from harness.runners.base import Failure, PreparedArm
from schemas.codec import Json
from tests.harness.openai.fake_answers import DRAFT, MODEL
from tests.harness.openai.fake_server import serving
from tests.harness.openai.sessions import open_session, plan, refused

SAME_NAME = f"offers {MODEL}, but the baseline's server offers {MODEL}"


def test_a_draft_that_lm_studio_does_not_have_is_named() -> None:
    with serving(style="lm-studio") as one:
        session = open_session(plan(), base_url=one.url, spec_base_urls=(one.url,), model=MODEL)

        session.prepare("baseline")
        failure = refused(session)

    assert f"offers no model D; it has {MODEL}, {DRAFT}" in failure.detail


def test_the_baselines_server_is_refused_as_the_speculating_one() -> None:
    with serving() as one:
        session = open_session(plan(), base_url=one.url, spec_base_urls=(one.url,))

        session.prepare("baseline")
        failure = refused(session)

    assert "this is the baseline's server" in failure.detail


def test_ollama_is_measured_at_one_address_by_a_model_for_each_arm() -> None:
    with serving(style="ollama", models=("plain", "drafts")) as one:
        session = open_session(plan(), base_url=one.url, model="plain", spec_models=("drafts",))

        assert isinstance(session.prepare("baseline"), PreparedArm)
        assert isinstance(session.prepare("draft-model-n3"), PreparedArm)

        assert {body["model"] for body in one.state.bodies} == {"plain", "drafts"}


def test_one_model_of_an_ollama_for_both_arms_is_refused_with_the_two_modelfiles() -> None:
    with serving(style="ollama") as one:
        session = open_session(plan(), base_url=one.url, model=MODEL, spec_models=(MODEL,))

        session.prepare("baseline")
        failure = refused(session)

    assert (
        "For --served-model, use `FROM MODEL` and `PARAMETER draft_num_predict 0`" in failure.detail
    )


HEADS = {"parameters": "num_ctx 4096", "model_info": {"qwen35.nextn_predict_layers": 1}}
PLAIN = {**HEADS, "parameters": "num_ctx 4096\ndraft_num_predict 0"}
THREE = {**HEADS, "parameters": "draft_num_predict              3"}


@pytest.mark.parametrize(
    ("plain", "drafts", "said"),
    [
        (PLAIN, THREE, None),
        ({}, {}, None),  # a build that does not tell
        (HEADS, THREE, "plain is the baseline, but may draft on its own"),
        (
            {"modelfile": "FROM base\nDRAFT small"},
            THREE,
            "plain is the baseline, but may draft on its own",
        ),
        (THREE, THREE, "plain is the baseline, but drafts up to 3 tokens"),
        (PLAIN, PLAIN, "drafts drafts up to 0 tokens, but the method has n_max=3"),
    ],
)
def test_an_ollama_model_that_drafts_is_refused_as_a_baseline(
    plain: Json, drafts: Json, said: str | None
) -> None:
    shows = {"plain": plain, "drafts": drafts}
    with serving(style="ollama", models=("plain", "drafts"), shows=shows) as one:
        session = open_session(plan(), base_url=one.url, model="plain", spec_models=("drafts",))
        found = [session.prepare(arm) for arm in ("baseline", "draft-model-n3")]

    failed = [each.detail for each in found if isinstance(each, Failure)]
    assert [str(said) in each for each in failed] == ([] if said is None else [True])


@pytest.mark.parametrize(
    ("base", "spec", "said"),
    [
        (
            {},
            {"version": "0.31.0"},
            "this server is vLLM 0.31.0, but the baseline's server is vLLM 0.32.0+cpu",
        ),
        (
            {},
            {"style": "sglang"},
            "this server is SGLang 0.5.21, but the baseline's server is vLLM",
        ),
        (
            {},
            {"models": ("Other",)},
            f"this server offers Other, but the baseline's server offers {MODEL} (root Other and",
        ),
        (
            {"root": "Qwen/X"},
            {"root": "Qwen/X-AWQ"},
            f"{SAME_NAME} (root Qwen/X-AWQ and Qwen/X); start both",
        ),
        (
            {"style": "llama-server", "file_bytes": 16_000_000_000},
            {"style": "llama-server", "file_bytes": 4_600_000_000},
            f"{SAME_NAME} (file bytes 4600000000 and 16000000000); start both",
        ),
    ],
)
def test_servers_with_different_engines_models_or_weights_are_refused(
    base: dict[str, Any], spec: dict[str, Any], said: str
) -> None:
    with serving(**base) as plain, serving(depth=3, **spec) as other:
        session = open_session(plan(), base_url=plain.url, spec_base_urls=(other.url,))
        session.prepare("baseline")

        failure = refused(session)

    assert failure.reason == "other"
    assert said in failure.detail


STATED = Served(
    id="a",
    root="Qwen/Qwen3-8B",
    owner="vllm",
    context_tokens=4096,
    parameters=8_190_735_360,
    file_bytes=16_381_470_720,
    vocabulary_size=151_936,
    quantisation="F16",
    digest="sha256:aa",
)


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"digest": "sha256:bb"}, "digest sha256:aa and sha256:bb"),
        ({"file_bytes": 4_683_072_384}, "file bytes 16381470720 and 4683072384"),
        ({"parameters": 4_022_468_096}, "parameters 8190735360 and 4022468096"),
        ({"quantisation": "Q4_K_M"}, "quantisation F16 and Q4_K_M"),
        ({"vocabulary_size": 151_669}, "vocabulary size 151936 and 151669"),
        ({"root": "Qwen/Qwen3-8B-AWQ"}, "root Qwen/Qwen3-8B and Qwen/Qwen3-8B-AWQ"),
    ],
)
def test_facts_about_weights_that_both_servers_state_must_be_equal(
    stated: dict[str, Any], said: str
) -> None:
    assert difference(STATED, replace(STATED, **stated)) == said
    assert difference(STATED, replace(STATED, **dict.fromkeys(stated))) is None


def test_a_name_and_a_limit_say_nothing_of_the_weights() -> None:
    assert difference(STATED, replace(STATED, id="b", context_tokens=512, owner="me")) is None
    assert difference(Served(id="a", root="x/y"), Served(id="b", root="x/y")) is None
    assert difference(Served(id="a", file_bytes=7), Served(id="b", file_bytes=7)) is None
    assert difference(Served(id="a", root="x/y"), Served(id="b")) == "another name"
    assert difference(Served(id="a", quantisation="F16"), Served(id="b", quantisation="F16"))


def test_a_baseline_that_drafts_is_refused() -> None:
    with serving(depth=3) as base, serving(depth=3) as other:
        session = open_session(plan(), base_url=base.url, spec_base_urls=(other.url,))

        failure = refused(session, "baseline")

    assert "the baseline's server drafted" in failure.detail
    assert "started without speculation" in failure.detail


def test_a_depth_that_the_server_contradicts_is_refused() -> None:
    with serving() as base, serving(depth=5) as other:
        session = open_session(plan(), base_url=base.url, spec_base_urls=(other.url,))

        failure = refused(session)

    assert "drafts up to 5 tokens, but the method has n_max=3" in failure.detail
