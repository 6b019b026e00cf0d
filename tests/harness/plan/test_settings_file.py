"""`plan --write` writes the recommended setting to a file that the engine reads."""

from configparser import ConfigParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.cli import app

CARD = ("--gpu", "RTX 4090")
MODEL = "unsloth/Qwen3.6-27B-MTP-GGUF:Q6_K"
PRESET = f"""\
[{MODEL}]
hf = {MODEL}
c = 4096
np = 1
ub = 512
ngl = 66
fit = off
spec-type = draft-mtp
spec-draft-n-max = 2
spec-draft-n-min = 0
spec-draft-p-min = 0
"""
VLLM = """\
model: 'Qwen/Qwen3.6-27B'
max-model-len: 4096
speculative-config: '{"method": "mtp", "num_speculative_tokens": 2}'
"""
SGLANG = """\
model-path: 'Qwen/Qwen3.6-27B'
context-length: 4096
speculative-algorithm: 'EAGLE'
speculative-num-steps: 2
speculative-eagle-topk: 1
speculative-num-draft-tokens: 3
"""
OLLAMA = f"""\
FROM hf.co/{MODEL}
PARAMETER num_ctx 4096
PARAMETER draft_num_predict 2
"""
LM_STUDIO = """\
Model: Qwen/Qwen3-8B-GGUF:Q8_0
Context Length: 4096
Speculative Decoding: Qwen/Qwen3-0.6B-GGUF:Q8_0
Max Draft Size: 4
Min Draft Size: 0
Drafting Probability Cutoff: 0
"""


def planned(file: Path, *words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["plan", *words, "--write", str(file)])
    return done.exit_code, " ".join(done.output.split())


@pytest.mark.parametrize(
    ("words", "name", "text", "start"),
    [
        (("qwen3.6-27b", *CARD), "models.ini", PRESET, "llama-server --models-preset"),
        (("qwen3.6-27b", *CARD), "Modelfile", OLLAMA, "ollama create faster -f"),
        (("Qwen/Qwen3.6-27B", "--gpu", "H100"), "a.yaml", VLLM, "vllm serve --config"),
        (
            ("Qwen/Qwen3.6-27B", "--gpu", "H100", "--engine", "sglang"),
            "a.yaml",
            SGLANG,
            "python -m sglang.launch_server --config",
        ),
        (("qwen3-8b", *CARD), "setting.txt", LM_STUDIO, "LM Studio reads no file"),
    ],
)
def test_the_kind_of_the_file_follows_its_name_and_the_engine(
    words: tuple[str, ...], name: str, text: str, start: str, tmp_path: Path
) -> None:
    code, said = planned(tmp_path / name, *words)

    assert code == 0
    assert (tmp_path / name).read_text("utf-8") == text
    assert f"Written: {tmp_path / name}." in said
    assert start in said


def test_a_preset_keeps_its_other_models(tmp_path: Path) -> None:
    preset = tmp_path / "models.ini"
    preset.write_text("# mine\n[*]\nt = 4\n\n[other]\nm = other.gguf\n", encoding="utf-8")

    assert planned(preset, "qwen3.6-27b", *CARD)[0] == 0
    written = preset.read_text("utf-8")

    assert written == f"# mine\n[*]\nt = 4\n\n[other]\nm = other.gguf\n\n{PRESET}"
    code, said = planned(preset, "qwen3.6-27b", *CARD)
    assert (code, preset.read_text("utf-8")) == (2, written)
    assert f"has {MODEL} already; add --force" in said
    assert planned(preset, "qwen3.6-27b", "none", *CARD, "--force")[0] == 0
    found = ConfigParser()
    found.read(preset, encoding="utf-8")
    assert found.sections() == ["*", "other", MODEL]
    assert "spec-type" not in found[MODEL]


def test_any_other_file_is_replaced_only_by_force(tmp_path: Path) -> None:
    modelfile = tmp_path / "Modelfile"
    modelfile.write_text("FROM mine\n", encoding="utf-8")

    assert planned(modelfile, "qwen3.6-27b", *CARD)[0] == 2
    assert modelfile.read_text("utf-8") == "FROM mine\n"
    assert planned(modelfile, "qwen3.6-27b", *CARD, "--force")[0] == 0
    assert modelfile.read_text("utf-8") == OLLAMA


@pytest.mark.parametrize(
    ("words", "name", "reason"),
    [
        (("--engine", "mlx"), "a.ini", "mlx-lm reads no settings file; use the printed command"),
        (("--engine", "ollama"), "a.ini", "for Ollama, name a file such as Modelfile"),
        ((), "a.toml", "name a file such as `models.ini` (llama.cpp), `vllm.yaml` (vLLM)"),
        ((), "a.yaml", "The repository of qwen3-8b is unknown: name owner/repo."),
    ],
)
def test_what_cannot_be_written_is_refused_with_what_to_name(
    words: tuple[str, ...], name: str, reason: str, tmp_path: Path
) -> None:
    code, said = planned(tmp_path / name, "qwen3-8b", "--gpu", "RTX 4090", *words)

    assert code == 2
    assert reason in said
    assert not (tmp_path / name).exists()
