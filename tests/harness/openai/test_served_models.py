"""A model behind a server is described by its name, its server and its files."""

import struct
from pathlib import Path
from typing import Any

import orjson
import pytest

from harness.errors import BadInputError, MachineError
from harness.models.folder import cached_folder, describe_folder, is_model_folder
from harness.openai.listed_models import Served
from harness.openai.served import NamedModels, model_of
from harness.runners.options import ConnectionOptions
from schemas.submission import Model
from tests.harness.ggufs import write_gguf
from tests.harness.openai.fake_answers import MODEL, Style
from tests.harness.openai.fake_server import serving


def write_weights(path: Path, **tensors: tuple[str, list[int]]) -> None:
    """A safetensors file with these tensors and no data."""
    table = {
        name: {"dtype": dtype, "shape": shape, "data_offsets": [0, 0]}
        for name, (dtype, shape) in tensors.items()
    }
    head = orjson.dumps({"__metadata__": {"format": "pt"}, **table})
    path.write_bytes(struct.pack("<Q", len(head)) + head)


def write_folder(folder: Path, **config: Any) -> Path:  # noqa: ANN401 - anything of JSON
    """A model of 30 + 12 parameters in two files."""
    folder.mkdir(parents=True)
    usual = {"model_type": "llama", "num_hidden_layers": 2, "vocab_size": 10}
    (folder / "config.json").write_bytes(orjson.dumps({**usual, **config}))
    write_weights(folder / "model-1.safetensors", embed=("BF16", [10, 3]))
    write_weights(folder / "model-2.safetensors", norm=("F32", [3]), up=("BF16", [3, 3]))
    return folder


@pytest.mark.parametrize(
    ("name", "shown", "quantisation", "repository", "family"),
    [
        ("SmolLM2-135M-Instruct:BF16", "SmolLM2-135M-Instruct", "BF16", None, "SmolLM2"),
        ("Nobody/Qwen3-8B:W4A16", "Qwen3-8B", "W4A16", "Nobody/Qwen3-8B", "Qwen3"),
        ("llama3.2:3b", "llama3.2:3b", "unknown", None, "llama3.2"),
        ("/srv/ann/models/tiny-1B.gguf", "tiny-1B", "unknown", None, "tiny"),
        ("a<b>\n", "ab", "unknown", None, "ab"),
    ],
)
def test_a_model_name_gives_its_repository_family_and_quantisation(
    name: str, shown: str, quantisation: str, repository: str | None, family: str
) -> None:
    model = model_of(name, None)

    assert (model.name, model.quantisation) == (shown, quantisation)
    assert (model.repository, model.family) == (repository, family)
    assert model.parameters is None


def test_facts_that_a_server_states_about_a_model_are_kept() -> None:
    served = Served(
        id="x", parameters=135_000_000, file_bytes=96_000_000, vocabulary_size=49_152,
        quantisation="Q4_1",
    )  # fmt: skip

    model = model_of("tiny", served)

    assert (model.parameters, model.file_bytes) == (135_000_000, 96_000_000)
    assert (model.vocabulary_size, model.quantisation) == (49_152, "Q4_1")
    assert model_of("tiny:Q8_0", served).quantisation == "Q8_0"
    assert model_of("Qwen3-30B-A3B", served).active_parameters == 3_000_000_000


def test_a_folder_of_safetensors_says_how_large_its_model_is(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "Tiny-42")

    assert is_model_folder(folder)
    assert describe_folder(folder) == Model(
        id="tiny-42-bf16",
        name="Tiny-42",
        family="Tiny-42",
        architecture="llama",
        quantisation="BF16",
        parameters=42,
        file_bytes=sum(path.stat().st_size for path in folder.glob("*.safetensors")),
        layers=2,
        vocabulary_size=10,
    )
    assert model_of(f"{folder}:F32", None).quantisation == "F32"


def test_packed_weights_have_no_countable_parameters(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "packed", quantization_config={"quant_method": "awq"})
    write_weights(folder / "model-2.safetensors", packed=("I32", [3, 3]))

    model = describe_folder(folder)

    assert (model.quantisation, model.parameters) == ("AWQ", None)


@pytest.mark.parametrize("data", [b"", b"\xff" * 8, struct.pack("<Q", 4) + b"oops"])
def test_broken_files_say_nothing(tmp_path: Path, data: bytes) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "config.json").write_bytes(b"{oops")
    (folder / "model.safetensors").write_bytes(data)

    model = describe_folder(folder)

    assert (model.parameters, model.layers, model.quantisation) == (None, None, "unknown")


def test_the_hubs_cache_is_looked_into_and_nothing_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    kept = tmp_path / "models--Owner--Tiny-1B"
    write_folder(kept / "snapshots" / ("0" * 40))
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text("0" * 40)

    assert cached_folder("Owner/Tiny-1B") == kept / "snapshots" / ("0" * 40)
    assert cached_folder("Owner/Other") is None
    model = model_of("Owner/Tiny-1B", None)
    assert (model.repository, model.name, model.parameters) == ("Owner/Tiny-1B", "Tiny-1B", 42)


def test_without_a_name_the_server_names_its_model() -> None:
    with serving(style="llama-server") as server:
        found = served_models(base_url=server.url).target(None)

    assert found is not None
    assert found.path is None
    assert (found.model.name, found.model.quantisation) == (MODEL, "Q4_1")
    assert found.model.parameters == 1_000_000_000


def test_the_folder_that_a_server_loaded_its_model_from_is_read(tmp_path: Path) -> None:
    root = write_folder(tmp_path / "Tiny-42")
    with serving(root=str(root)) as server:
        models = served_models(base_url=server.url)
        unnamed, named, other = (models.target(name) for name in (None, f"{MODEL}:F32", "else"))

    assert unnamed is not None
    assert (unnamed.model.name, unnamed.model.parameters) == ("Tiny-42", 42)
    assert named is not None
    assert (named.model.parameters, named.model.quantisation) == (42, "F32")
    assert other is not None
    assert (other.model.name, other.model.parameters) == ("Tiny-42", 42)  # an alias says nothing


@pytest.mark.parametrize(
    ("typed", "stated", "taken"),
    [
        ("qwen3-8b", {"root": "meta-llama/Llama-3.1-8B-Instruct"}, None),
        ("llama-3.1-8b", {"id": "SmolLM2-135M-Instruct"}, None),
        ("qwen3-8b", {"root": "Qwen/Qwen3-4B"}, None),
        ("qwen3-8b", {"parameters": 751_000_000}, None),
        ("qwen3-8b", {"root": "Qwen/Qwen3-8B"}, "qwen3-8b"),
        ("llama-3.1-8b", {"root": "NousResearch/Meta-Llama-3.1-8B-Instruct"}, "llama-3.1-8b"),
        ("llama-3.2-3b", {"id": "llama3.2:3b"}, "llama-3.2-3b"),
        ("qwen3-8b", {"parameters": 8_190_000_000}, "qwen3-8b"),
        ("qwen3-8b", {}, "qwen3-8b"),
        ("m1", {"root": "Qwen/Qwen3-4B"}, "Qwen3-4B"),
        ("m1", {}, "m1"),
    ],
)
def test_a_name_that_the_server_contradicts_is_refused(
    typed: str, stated: dict[str, Any], taken: str | None
) -> None:
    said: list[str] = []
    models = NamedModels(ConnectionOptions(), said.append)
    served = Served(**{"id": "alias", **stated})

    if taken is None:
        with pytest.raises(
            BadInputError, match=f"not {typed}; leave out --target, or correct its value"
        ):
            models.named(typed, served)
        return
    assert models.named(typed, served).name == taken
    # An alias of the user or of the server proves nothing, which is stated.
    assert bool(said) == (typed == "m1" or not stated)


def test_servers_that_cannot_be_compared_are_refused_before_anything_is_measured() -> None:
    said: list[str] = []
    with serving() as base, serving(models=("other",)) as other:
        wrong = ConnectionOptions(base_url=base.url, spec_base_urls=(other.url,))
        twice = ConnectionOptions(base_url=base.url, spec_base_urls=(base.url,))
        with pytest.raises(MachineError, match="this server offers other"):
            NamedModels(wrong, said.append).target(None)
        with pytest.raises(MachineError, match="this is the baseline's server"):
            NamedModels(twice, said.append).target(None)


@pytest.mark.parametrize("style", ["ollama", "lm-studio"])
def test_a_dry_run_asks_for_the_card_that_the_server_does_not_report(
    style: Style, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.openai.reported_device.usable", lambda *_: ())
    with serving(style=style) as server:
        models = served_models(base_url=server.url, backend=None, model=MODEL)
        with pytest.raises(BadInputError, match="name each card in use"):
            models.target(None)


def test_a_file_that_is_served_from_this_disk_is_described_whole(
    tmp_path: Path, cache_dir: Path
) -> None:
    assert cache_dir.is_dir()
    path = write_gguf(tmp_path / "tiny.gguf", name="Tiny 1B")
    with serving(style="llama-server", models=(str(path),)) as server:
        found = served_models(base_url=server.url).target(None)
        named = served_models(base_url=server.url).target(str(path))

    assert found is not None
    assert found.model.sha256 is not None
    assert named is None  # a file is described as for any runner


def test_a_missing_model_name_is_asked_for() -> None:
    later = served_models(server_command="serve --port {port}")
    nobody = served_models(base_url="http://127.0.0.1:9")

    with pytest.raises(BadInputError, match="name the model with --target"):
        later.target(None)
    with pytest.raises(MachineError, match="nothing listens at"):
        nobody.target("tiny")
    found = later.target("tiny:Q4_0")
    assert found is not None
    assert found.model.name == "tiny"


def served_models(**options: Any) -> NamedModels:  # noqa: ANN401 - fields of `ConnectionOptions`
    """The models behind the servers that `options` names; they compute on the processor."""
    given = {"plain_alone": True, "backend": "cpu", **options}
    return NamedModels(ConnectionOptions(**given), lambda _text: None)
