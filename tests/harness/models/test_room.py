"""`--gpu-layers auto` becomes the planner's number, and a wrong word one line."""

from dataclasses import fields
from pathlib import Path

import pytest

from answers.machines import MachineWords
from harness.campaign.from_options import with_layers
from harness.campaign.options import AUTOMATIC_LAYERS, Options
from harness.errors import BadInputError
from harness.machine.computer import computer_of
from harness.models import room
from harness.models.model_file import ModelFile
from schemas.submission import Model
from tests.harness.ggufs import write_gguf

AUTO = Options(gpu_layers=AUTOMATIC_LAYERS, draft_gpu_layers=AUTOMATIC_LAYERS)


def model(path: Path) -> ModelFile:
    described = Model(id=path.stem, name=path.stem, quantisation="F16")
    return ModelFile(path=write_gguf(path), model=described)


def on(monkeypatch: pytest.MonkeyPatch, *gpus: str) -> None:
    described = computer_of(MachineWords(gpus=gpus, ram=8))
    monkeypatch.setattr(room, "computer_of", lambda _=None: described)


def test_all_layers_of_both_go_to_a_card_with_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, "RTX 4060 8 GB")

    found = with_layers(AUTO, model(tmp_path / "t.gguf"), (model(tmp_path / "d.gguf"),))

    # Two layers and the output layer.
    assert (found.gpu_layers, found.draft_gpu_layers) == (3, 3)


def test_without_a_card_the_engine_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, "none")

    found = with_layers(AUTO, model(tmp_path / "t.gguf"), ())

    assert (found.gpu_layers, found.draft_gpu_layers) == (None, None)


def test_numbers_stay_as_they_were_given(tmp_path: Path) -> None:
    given = Options(gpu_layers=7)

    assert with_layers(given, model(tmp_path / "t.gguf"), ()) is given


def test_an_unknown_word_is_refused_with_the_known_ones() -> None:
    (offered,) = (each for each in fields(Options) if each.name == "gpu_layers")
    parse = offered.metadata["option"].parse

    assert parse("AUTO") == AUTOMATIC_LAYERS
    assert parse("-1") == parse("all") == -1
    for wrong in ("most", "-2", "1.5"):
        with pytest.raises(
            BadInputError,
            match=r"--gpu-layers .*: give a whole number from 0 to 1024, all or",
        ):
            parse(wrong)


def test_a_draft_of_another_vocabulary_is_refused_before_anything_is_fetched() -> None:
    with pytest.raises(BadInputError, match=r"qwen3-0\.6b cannot draft for phi-4"):
        room.require_room(("phi-4", "qwen3-0.6b"), 2048)
