"""A preset that we write serves the model as the printed command does."""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.report.settings_file import SettingsFileOptions
from harness.runners.http.client import Client, ServerAddress, ServerError
from harness.runners.http.process import HOST, free_port
from pipeline.site.pages.answer_files import answer_files
from pipeline.site.pages.launchers import PRESETS
from pipeline.site.pages.model import Site
from planner.engine_commands import ServeLine, default_method, serve_nearest
from planner.engine_files import model_name
from planner.evidence import pairs
from schemas.codec import Json
from tests.processes import PATIENCE_S

MODULE = "harness.runners.llama_server.wheel_server"
_LOADED = ["-c", "2048", "-np", "1", "-ub", "256", "-fit", "off", "-kvu", "-t", "1"]
_NEVER_EQUAL = {"media_marker", "model_alias"}  # a random word; the name that requests use


def line_for(weights: Path) -> ServeLine:
    method = default_method("ngram-simple", 6)
    line = serve_nearest("llama.cpp", str(weights), None, method, _LOADED)
    assert line is not None
    return line


def props(program: Sequence[str], arguments: Sequence[str], query: str = "") -> dict[str, Json]:
    """The properties of a server that has loaded its model."""
    found = got(program, arguments, f"/props{query}")
    return {name: value for name, value in found.items() if name not in _NEVER_EQUAL}


def got(program: Sequence[str], arguments: Sequence[str], address: str) -> dict[str, Json]:
    """The answer of a server at an address, once it has one."""
    port, until = free_port(), time.monotonic() + PATIENCE_S
    command = [*program, *arguments, "--port", str(port)]
    client = Client(address=ServerAddress(host=HOST, port=port), limit_s=PATIENCE_S)
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while time.monotonic() < until and server.poll() is None:
            try:
                found = client.get(address)
            except ServerError:
                time.sleep(0.2)
                continue
            assert isinstance(found, dict)
            return found
    finally:
        server.terminate()
        server.wait()
    pytest.fail(f"{command} served nothing")


@pytest.mark.engine
def test_the_embedded_server_loads_a_preset_as_the_command_line(
    weights: Path, tmp_path: Path
) -> None:
    pytest.importorskip("xllamacpp", reason="no wheel with an embedded server here")
    program, line = (sys.executable, "-m", MODULE), line_for(weights)
    SettingsFileOptions(write=tmp_path / "models.ini").save(line, None)

    by_command = props(program, line.words[1:])
    by_preset = props(program, ["--models-preset", str(tmp_path / "models.ini")])

    assert by_preset == by_command
    assert "'n_ctx': 2048" in str(by_preset)


@pytest.mark.engine
def test_a_stock_router_loads_a_preset_as_the_command_line(
    binary: str, weights: Path, tmp_path: Path
) -> None:
    line = line_for(weights)
    SettingsFileOptions(write=tmp_path / "models.ini").save(line, None)

    by_command = props([binary], line.words[1:])
    query = f"?model={model_name(line)}"
    by_preset = props([binary], ["--models-preset", str(tmp_path / "models.ini")], query)

    assert by_preset == by_command
    assert "'n_ctx': 2048" in str(by_preset)


@pytest.mark.engine
def test_a_stock_router_offers_the_models_of_a_devices_preset_from_the_site(
    binary: str, tmp_path: Path
) -> None:
    files = answer_files(Site(bundle=""), pairs(), only={"qwen3-8b", "qwen3.8-27b"})
    preset = next(each for each in files if each.path == f"{PRESETS}/rtx-3090-24-gb.ini")
    (tmp_path / "device.ini").write_bytes(preset.data)

    found = got([binary], ["--models-preset", str(tmp_path / "device.ini")], "/models")

    assert {each["id"] for each in found["data"]} >= {  # type: ignore[index, union-attr, call-overload]
        "Qwen/Qwen3-8B-GGUF:Q8_0",
        "unsloth/Qwen3.8-27B-GGUF:Q6_K",
    }


def test_one_of_several_models_of_a_preset_needs_its_name(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="no wheel with an embedded server here")
    preset = tmp_path / "models.ini"
    preset.write_text("[one]\nm = a.gguf\n\n[two]\nm = b.gguf\n", encoding="utf-8")
    command = [sys.executable, "-m", MODULE, "--models-preset", str(preset)]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert done.stderr == "error: name a model with --alias: one, two\n"
