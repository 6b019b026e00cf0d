"""The parts of the runner mlx that need no MLX: rounds, folders, and what to install."""

import json
from pathlib import Path

import pytest

from harness.campaign.from_options import usable_methods
from harness.campaign.options import Options
from harness.errors import BadInputError, MachineError
from harness.mlx import MlxModels
from harness.mlx.draft_rounds import totals
from harness.models.folder import describe_folder
from harness.runners import CONNECT
from harness.runners.base import Totals
from harness.runners.options import ConnectionOptions
from schemas.vocabulary import RUNNERS

CONFIG = {"model_type": "llama", "quantization": {"group_size": 64, "bits": 4}}


def flags(text: str) -> list[bool]:
    """Flags of tokens: `d` for a drafted one, `t` for one of the target."""
    return [sign == "d" for sign in text]


def test_a_baseline_has_a_round_for_each_token_after_the_first() -> None:
    assert totals(flags("ttt"), limit=3, depth=0, decode_ms=9.0) == Totals(
        decode_ms=9.0,
        rounds=3,
        drafted=0,
        accepted=0,
        accepted_histogram=(3,),
        drafted_histogram=(3,),
    )


def test_a_round_ends_with_a_token_of_the_target() -> None:
    # Of 3 drafted tokens all, 1 and none are accepted; then 2 tokens are left, so 2 are drafted.
    assert totals(flags("dddt dt t t".replace(" ", "")), limit=9, depth=3, decode_ms=1.0) == Totals(
        decode_ms=1.0,
        rounds=4,
        drafted=3 + 3 + 3 + 2,
        accepted=4,
        accepted_histogram=(2, 1, 0, 1),
        drafted_histogram=(0, 0, 1, 3),
    )


@pytest.mark.parametrize("text", ["dtdd", "dtddd"])
def test_the_last_draft_of_a_round_that_was_cut_off_counts_as_the_targets(text: str) -> None:
    found = totals(flags(text), limit=len(text), depth=4, decode_ms=1.0)

    assert found.rounds == 2
    assert found.accepted == len(text) - 2  # so that tokens = accepted + rounds


def test_an_answer_of_one_token_has_no_rounds() -> None:
    found = totals([], limit=0, depth=4, decode_ms=0.0)

    assert (found.rounds, found.drafted, found.accepted_histogram) == (0, 0, ())


def test_without_mlx_the_run_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("harness.mlx.find_spec", lambda _name: None)

    with pytest.raises(MachineError, match=r"not installed; .* pip install '\.\[mlx\]'$"):
        CONNECT["mlx"](ConnectionOptions())


def test_a_folder_needs_no_draft_and_is_not_searched_for_a_head(tmp_path: Path) -> None:
    assert usable_methods(Options(target=str(tmp_path)), (), RUNNERS["mlx"]) == ()


def test_mlx_takes_a_folder_as_a_model_and_refuses_a_gguf_file(tmp_path: Path) -> None:
    gguf = tmp_path / "model.gguf"
    gguf.touch()
    (tmp_path / "config.json").write_text(json.dumps(CONFIG), "utf-8")
    models = MlxModels(print)

    assert models.target(str(tmp_path)).path == tmp_path
    with pytest.raises(BadInputError, match="name an MLX model with --target"):
        models.target(None)
    for other in (str(gguf), "qwen3-8b"):
        with pytest.raises(BadInputError, match="is not an MLX model; give a folder with config"):
            models.draft(other)


def test_the_parameters_of_packed_weights_are_counted_by_their_bits(tmp_path: Path) -> None:
    # 2 x 3 words of 32 bits hold 48 weights of 4 bits; scales are not weights.
    header = json.dumps(
        {
            "a.weight": {"dtype": "U32", "shape": [2, 3], "data_offsets": [0, 24]},
            "a.scales": {"dtype": "BF16", "shape": [2, 1], "data_offsets": [24, 28]},
        }
    ).encode()
    weights = len(header).to_bytes(8, "little") + header + bytes(28)
    (tmp_path / "model.safetensors").write_bytes(weights)
    (tmp_path / "config.json").write_text(json.dumps(CONFIG), "utf-8")

    model = describe_folder(tmp_path)

    assert (model.quantisation, model.parameters) == ("4bit", 48)
