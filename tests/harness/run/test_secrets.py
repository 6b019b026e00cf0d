"""No file, journal or message contains keys, persons or hosts, wherever they are given."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from harness.campaign.hidden_arguments import recorded
from harness.cli import app
from harness.machine.detect import clean_name, public
from harness.openai import connect
from harness.openai.listed_models import quantisation
from harness.runners.http.process import start
from harness.runners.llama_server.binary import read_devices, read_version
from harness.runners.options import ConnectionOptions
from harness.runners.variables import variables
from schemas import public_text
from schemas.submission import Gpu
from tests.harness.campaigns import run
from tests.harness.openai.fake_server import serving
from tests.harness.openai.sessions import plan
from tests.nightly import few
from tests.processes import eventually

LETTERS = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5j"
TOKEN = f"hf_{LETTERS}"
UUID = "GPU-12345678-1234-1234-1234-123456789abc"
# None of these parts of the secrets below may ever be seen again.
PARTS = (
    "hf_", LETTERS, "hunter", "zelda", "gpu-box", "gpu1", "12345678", "10.1.2", "DESKTOP-", "sk-",
)  # fmt: skip

SERVER_ARGUMENTS = (
    f"-hft {TOKEN}", f"--hf-token {TOKEN}", f"--hf-token={TOKEN}", "--api-key hunter2",
    "--api-key=hunter2", "-hft hunter2", "--alias zelda-private", "-a zelda-private",
    "--tags zelda", "--rpc gpu-box", "--rpc 10.1.2.3:50052", "--rpc=gpu-box:1", "--host 10.1.2.3",
    "--device gpu-box", "--device RPC0-gpu-box", "--numa zelda", "--lora zelda.gguf",
    "--log-file zelda.log", "-mu zelda", "--reverse-prompt hunter2", "--prefill-assistant hunter2",
    "--api-prefix zelda", "--path zelda", "--cache-reuse hunter2", "--metrics hunter2",
    f"--{LETTERS}", "--threads-http 12345678901", "--override-tensor zelda=CPU",
    "--chat-template zelda", "--slot-save-path zelda", "--unheard-of 7",
)  # fmt: skip
COMMAND_WORDS = (
    ("--device", "gpu-box"), ("--device", "cuda:zelda"), ("--numa", "zelda"),
    ("--numa", "hunter2"), ("--quantization", "hunter2"), ("--quantization", "zelda-quant"),
    ("--dtype", "hunter2"), ("--kv-cache-dtype", LETTERS), ("--spec-type", "zelda"),
    ("--load-format", "zelda-format"), ("--model", "gpu-box.example.org/model"),
    ("--seed", "12345678901"), ("--device", "10.1.2.3"), ("-sc", '{"method": "hunter2"}'),
    ("--attention-backend", "gpu-box"), ("--api-key", "hunter2"), ("--hf-token=hunter3",),
    ("--dtype", "hf_AbCdEfGhIjKl"), ("--dtype", "sk-abcdef"),
    ("--dtype", "0123456789abcdef0123456789abcdef"), ("--model", "hf_AbCdEf/x"),
    ("--header", "Authorization: Bearer hunter2"), ("Bearer", "hunter2"),
    ("--proxy", "http://zelda:hunter2@host:3128"), ("http://zelda:hunter2@host:3128/x",),
    ("--model", "https://gpu-box/model"), ("--host", "gpu-box.example.org"), ("--host=10.1.2.3",),
    ("gpu-box",), ("zelda@gpu-box",), ("--model", "/srv/zelda/models/tiny.gguf"),
    ("-m", "~/zelda.gguf"), ("--tokenizer", "C:\\Users\\zelda\\tok"), ("/srv/zelda/models/tiny",),
    ("--served-model-name", "zelda-private"), ("--log=/var/log/zelda",),
    ("--ssh-user", "zelda", "zelda"), ("-c", "curl http://zelda"), ("SECRET=hunter2",),
    ("--speculative-config", "/srv/zelda/config.json"),
    ("--speculative-config", '{"auth": "hunter2", "model": "/srv/zelda/draft"}'),
    ("--speculative-config.auth", "hunter2"),
)  # fmt: skip
VARIABLES = {
    "CUDA_VISIBLE_DEVICES": UUID,
    "HIP_VISIBLE_DEVICES": "GPU-12345678abcdef01",
    "LLAMA_AUTH": "hunter2",
    "LLAMA_HOSTNAME": "gpu-box",
    "LLAMA_API_KEY": "hunter2",
    "CUDA_CRED": "hunter2",
    "HIP_USER": "zelda",
    "GGML_BACKEND_PATH": "zelda.so",
    "GGML_CUDA_FORCE_MMQ": "hunter2",
    "OMP_PLACES": "gpu-box",
    "CUDA_MPS_PIPE_DIRECTORY": "zelda",
}
TEXTS = (
    TOKEN, UUID, "hunter2", "1.0-hunter2", f"0.32.0+{LETTERS}", "zelda@gpu-box",
    "0.5.9+gpu-box.internal",
    "10.1.2.3", "DESKTOP-A1B2C3D", "0.32.0 (built by zelda)", "gpu1.internal", f"sk-{LETTERS}",
)  # fmt: skip
NOTES = (
    f"token {TOKEN}", "mail zelda@example.org", ("models in /ho" "me/zelda/models"),
    "runs on gpu1.internal", "at 10.1.2.3", f"card {UUID}", f"Authorization: Bearer {LETTERS}",
    "password: hunter2hunter2", "DESKTOP-A1B2C3D with more fans", f"--api-key sk-{LETTERS}",
    f"nvapi-{LETTERS}",
)  # fmt: skip
SMALL = ("--tasks", "code,math", "--prompts", "1", "--max-tokens", "8", "--blocks", "1")


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["run", *arguments])


def seen(text: str) -> list[str]:
    """The parts of secrets in a text."""
    return [part for part in PARTS if part in text]


@pytest.mark.parametrize("argument", SERVER_ARGUMENTS)
@pytest.mark.usefixtures("cache_dir")
def test_an_argument_of_no_known_form_is_refused_before_the_first_trial(argument: str) -> None:
    done = call("--runner", "llama-server", "--server-arg", argument, "--dry-run")

    assert done.exit_code == 2
    assert done.stderr.startswith("Error: --server-arg")
    assert done.stderr.count("\n") == 1
    assert "use --runner openai --server-command" in done.stderr
    assert not seen(done.output)


@pytest.mark.parametrize("words", COMMAND_WORDS)
def test_a_word_that_no_engine_knows_is_not_recorded(words: tuple[str, ...]) -> None:
    shown = recorded(("vllm", "serve", *words))

    assert "…" in " ".join(shown)
    assert not seen(" ".join(shown))


def test_no_variable_with_a_secret_is_recorded() -> None:
    assert variables({**VARIABLES, "GGML_VK_VISIBLE_DEVICES": "0,1"})[0].value == "0,1"
    assert len(variables({**VARIABLES, "GGML_VK_VISIBLE_DEVICES": "0,1"})) == 1


def test_arguments_variables_versions_and_cards_as_they_are_stay_as_they_are() -> None:
    words = (
        "--cache-reuse", "256", "-dev", "CUDA0,CUDA1", "--numa", "distribute", "-ot", "exps=CPU",
        "-ctk", "iq4_nl", "--cpu-range", "0-7", "--quantization", "compressed-tensors",
        "-ts", "3,1", "--kv-cache-dtype", "fp8_e4m3", "--attention-backend", "FLASHINFER_MLA",
    )  # fmt: skip
    versions = (
        "0.32.0+cpu", "0.9.1+rocm631", "0.11.1rc3.dev12+g1234567.d20261101.cu129", "0.5.3.post1",
        "b10434-571d0d5", "571d0d5", "10434", "0.12.4-rc0", "0.9.0.1", "2024.6.0.0",
    )  # fmt: skip
    cards = (
        "NVIDIA GeForce RTX 4060 Ti", "NVIDIA H100 80GB HBM3 MIG 1g.10gb", "NVIDIA A100-SXM4-80GB",
        "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "Orin (nvgpu)", "Apple M3 Max",
        "Navi 31 [Radeon RX 7900 XT/7900 XTX/7900 GRE/7900M]", "DG2 [Arc A770]", "NVIDIA GB10",
        "AMD Radeon Graphics (RADV GFX1103_R1)", "llvmpipe (LLVM 17.0.6, 256 bits)",
    )  # fmt: skip
    environment = {"CUDA_VISIBLE_DEVICES": "1,0", "OMP_PROC_BIND": "close", "GOMP_SPINCOUNT": ""}

    assert recorded(("vllm", *words)) == words
    assert [*filter(public_text.version, versions)] == [*versions]
    assert [*filter(public_text.card, cards)] == [*cards]
    assert [*filter(public_text.driver, ("580.95.05", "31.0.15.4601", "24.0.5"))][2:] == ["24.0.5"]
    assert {each.name: each.value for each in variables(environment)} == environment


@pytest.mark.parametrize("text", TEXTS)
def test_text_that_is_not_a_version_card_or_driver_becomes_unknown(text: str) -> None:
    assert public_text.version(text) is None
    assert read_version(f"version: {text}\n")[0] == "unknown"
    found = public(Gpu(name=text, vendor="nvidia", driver=text))
    assert (found.name, found.driver) == ("unknown", None)
    assert public(Gpu(name=f"NVIDIA RTX 4090 {text}")).name == "unknown"
    assert read_devices(f"  CUDA0: NVIDIA {text} (8188 MiB)\n")[0].description is None
    assert not seen(quantisation(text) or "")


def test_a_processor_name_is_kept_unless_it_names_a_person() -> None:
    assert clean_name("Intel(R) Xeon(R) CPU @ 2.20GHz") == "Intel Xeon CPU @ 2.20GHz"
    assert clean_name(f"vCPU of {UUID}") == "unknown"


@pytest.mark.parametrize("text", few(TEXTS, 4))
@pytest.mark.usefixtures("cache_dir")
def test_no_version_and_no_header_of_a_server_brings_a_secret_along(
    text: str, tmp_path: Path
) -> None:
    for style, named in (("vllm", {"version": text}), ("plain", {"software": f"{text}/1.0"})):
        output = tmp_path / f"{style}.json"
        with serving(style=style, **named) as base, serving(style=style, depth=3, **named) as other:
            done = call(
                "--runner", "openai", "--base-url", base.url, "--spec-base-url", other.url,
                "--method", "prompt-lookup:n_max=3", "--backend", "cpu", *SMALL, "-o", str(output),
            )  # fmt: skip

        assert done.exit_code == 0, done.stderr
        assert '"version":"unknown"' in output.read_text()
        assert not seen(output.read_text() + done.output)


def test_server_text_of_unknown_form_is_in_no_journal(tmp_path: Path) -> None:
    for text in TEXTS:
        with serving(version=text) as base, serving(depth=3, version=text) as other:
            options = ConnectionOptions(
                base_url=base.url, spec_base_urls=(other.url,), backend="cpu"
            )
            run(plan(blocks=1), tmp_path / "work.jsonl", runner=connect(options).open)

        journal = (tmp_path / "work.jsonl").read_text()
        assert '"version":"unknown"' in journal
        assert not seen(journal)


@pytest.mark.parametrize("text", NOTES)
@pytest.mark.usefixtures("cache_dir")
def test_notes_with_a_secret_are_refused_before_the_first_trial(text: str, tmp_path: Path) -> None:
    done = call("--runner", "llama-server", "--notes", text, "-o", str(tmp_path / "out.json"))

    assert done.exit_code == 2
    assert "--notes contains a" in done.stderr
    assert "leave it out" in done.stderr
    assert not seen(done.output)
    assert not [*tmp_path.rglob("*.json*")]


@pytest.mark.parametrize("text", ["zelda@mail.example.org", f"model-{TOKEN}", "tiny.gpu1.internal"])
@pytest.mark.usefixtures("cache_dir")
def test_a_private_model_name_is_refused_before_the_first_trial(text: str, tmp_path: Path) -> None:
    command = ("--server-command", "x --port {port}", "--spec-server-command", "y --port {port}")

    done = call(
        "--runner", "openai", *command, "--target", text, "--method", "prompt-lookup:n_max=3",
        "-o", str(tmp_path / "out.json"),
    )  # fmt: skip

    assert done.exit_code == 2
    assert "of a model contains a" in done.stderr
    assert not seen(done.output)


@pytest.mark.usefixtures("cache_dir")
def test_a_dry_run_shows_a_command_without_its_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda program: program)  # as if vLLM were here
    done = call(
        "--runner", "openai", "--target", "tiny", "--method", "prompt-lookup:n_max=3", "--dry-run",
        "--server-command", f"env HF_TOKEN={TOKEN} vllm --api-key hunter2 --seed 8 --port {{port}}",
        "--spec-server-command", "vllm -hft hunter3 --auth=hunter4 --port {port}",
    )  # fmt: skip

    assert done.exit_code == 0, done.stderr
    assert "--seed 8" in done.stdout
    assert done.stdout.count("(a key)") == 4
    assert not seen(done.output)


def test_the_log_of_a_server_is_read_without_the_keys_that_it_was_given(tmp_path: Path) -> None:
    program = tmp_path / "server.py"
    program.write_text("import sys\nprint('error: bad key', sys.argv[2])\n")
    argv = (str(program), "--api-key", "hunter2")
    server = start(Path(sys.executable), argv, port=1)
    try:
        assert eventually(lambda: not server.running())
        failure = server.death()
    finally:
        server.end()

    assert failure is not None
    assert failure.detail.endswith("error: bad key (a key)")
