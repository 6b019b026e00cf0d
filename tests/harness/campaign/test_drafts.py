"""Every method gets the drafts that are meant for it."""

from pathlib import Path
from typing import Any

import pytest

from harness.campaign import suite
from harness.campaign.builder import build
from harness.campaign.from_options import campaign_from, draft_names, usable_methods
from harness.campaign.method_parser import parse
from harness.campaign.model import Campaign
from harness.campaign.options import Options
from harness.errors import BadInputError
from harness.models.model_file import ModelFile
from schemas.method import Method
from schemas.submission import Model
from schemas.vocabulary import RUNNERS
from tests.harness.ggufs import TOKENS, write_gguf


def model(name: str, architecture: str = "llama") -> ModelFile:
    described = Model(
        id=name, name=name, quantisation="F16", file_bytes=10**9, architecture=architecture
    )
    return ModelFile(path=Path(name), model=described)


SMALL = model("small")
EAGLE = model("eagle", "eagle3")
BLOCKS = model("blocks", "dflash-draft")
SECOND = model("sample-dflash2", "dflash")


def campaign(methods: str, *drafts: ModelFile) -> Campaign:
    return build(
        Options(),
        target=model("target"),
        drafts=drafts,
        methods=tuple(parse(text) for text in methods.split()),
        suite=suite.select(suite.load("core"), quick=True),
    )


def drafts_used(methods: str, *drafts: ModelFile) -> dict[str, str | None]:
    return {
        arm.id: arm.method.draft
        for arm in campaign(methods, *drafts).arms
        if arm.role == "speculation"
    }


def test_a_single_head_method_gets_the_draft_of_unknown_kind() -> None:
    assert drafts_used("dflash", SMALL) == {"dflash-n7": "small"}


def test_a_head_is_not_a_draft_model() -> None:
    with pytest.raises(
        BadInputError, match="cannot draft for draft-model; it is a draft for --method eagle3"
    ):
        campaign("draft-model", EAGLE)


def test_a_draft_model_and_a_head_get_the_file_that_is_theirs() -> None:
    assert drafts_used("draft-model eagle3", SMALL, EAGLE) == {
        "draft-model-n4": "small",
        "eagle3-n3": "eagle",
    }


def test_a_file_of_a_block_drafter_serves_dspark_unless_dflash_is_asked_for() -> None:
    assert drafts_used("draft-model dspark", SMALL, BLOCKS)["dspark-n7"] == "blocks"
    with pytest.raises(BadInputError, match="none of the given drafts works with dspark"):
        campaign("dflash dspark", BLOCKS)


def test_generations_of_dflash_are_distinguished_by_name() -> None:
    assert drafts_used("dflash dflash2", SECOND, BLOCKS) == {
        "dflash-n7": "blocks",
        "dflash2-n7": "sample-dflash2",
    }
    with pytest.raises(
        BadInputError, match="cannot draft for dflash; it is a draft for --method dflash2"
    ):
        campaign("dflash", SECOND)
    with pytest.raises(
        BadInputError, match="cannot draft for dflash2; it is a draft for --method dflash"
    ):
        campaign("dflash2", BLOCKS)


def test_heads_inside_the_target_need_no_file() -> None:
    assert drafts_used("mtp") == {"mtp-n3": None}
    assert drafts_used("draft-model mtp", SMALL) == {"draft-model-n4": "small", "mtp-n3": None}


def test_several_drafts_of_one_method_are_several_arms() -> None:
    assert drafts_used("draft-model", SMALL, model("tiny")) == {
        "draft-model-n4-small": "small",
        "draft-model-n4-tiny": "tiny",
    }


def test_a_head_without_a_file_is_refused_unless_it_can_be_built_in() -> None:
    with pytest.raises(BadInputError, match="eagle3 needs a draft for this target"):
        usable_methods(Options(methods=(parse("eagle3"),)), ())
    assert usable_methods(Options(methods=(parse("mtp"),)), ()) == (parse("mtp"),)


def test_a_known_target_brings_its_draft_model_for_draft_models_only() -> None:
    assert draft_names(Options(methods=(parse("mtp"),))) == ()
    usual = draft_names(Options(methods=(parse("draft-model"),)))
    assert usual != ()
    # The documented command to measure the cost of a round.
    assert draft_names(Options(methods=(parse("forced:length=2.5,n_max=4"),))) == usual


def test_a_server_draft_without_a_name_is_refused() -> None:
    options = Options(methods=(parse("draft-model"),))

    assert draft_names(options, RUNNERS["openai"]) == ()
    with pytest.raises(BadInputError, match="name the draft with --draft"):
        usable_methods(options, (), RUNNERS["openai"])


@pytest.mark.usefixtures("cache_dir")
def test_the_vocabulary_of_a_head_is_left_to_the_engine(tmp_path: Path) -> None:
    target = write_gguf(tmp_path / "target.gguf", name="Big 7B")
    head = write_gguf(
        tmp_path / "head.gguf", name="Head 1B", tokens=TOKENS[::-1], architecture="eagle3"
    )
    options = Options(target=str(target), drafts=(str(head),), methods=(parse("eagle3"),))

    built = campaign_from(options, say=print)

    assert built.arms[1].method == Method(type="eagle3", draft=built.drafts[0].model.id, n_max=3)


@pytest.mark.usefixtures("cache_dir")
@pytest.mark.parametrize(
    ("method", "header", "fits"),
    [
        ("eagle3", {"architecture": "qwen3"}, False),
        ("eagle3", {"architecture": "eagle3"}, True),
        ("dspark", {"architecture": "dflash-draft"}, True),
        ("dflash", {"architecture": "eagle3"}, False),
        ("mtp", {"architecture": "qwen35"}, False),
        ("mtp", {"architecture": "qwen35", "heads": 1}, True),
        ("mtp", {"name": "Big 7B MTP"}, True),
        ("ngram-mod+mtp", {"architecture": "qwen35"}, False),
        ("ngram-mod+mtp", {"architecture": "qwen35", "heads": 1}, True),
    ],
)
def test_only_a_file_of_a_head_drafts_for_a_method_with_heads(
    tmp_path: Path, method: str, header: dict[str, Any], *, fits: bool
) -> None:
    target = write_gguf(tmp_path / "target.gguf", name="Big 7B")
    draft = write_gguf(tmp_path / "draft.gguf", **{"name": "Small 1B", **header})
    options = Options(target=str(target), drafts=(str(draft),), methods=(parse(method),))

    if fits:
        assert campaign_from(options, say=print, runner=RUNNERS["llama-server"]).arms[1:]
    else:
        with pytest.raises(BadInputError, match=r"cannot use it|cannot draft for"):
            campaign_from(options, say=print, runner=RUNNERS["llama-server"])
