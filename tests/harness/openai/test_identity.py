"""An engine is recorded under its own name, and unstated facts are omitted."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from harness.errors import BadInputError
from harness.openai.endpoints import parse
from harness.openai.reported_device import backend_of
from harness.openai.server_identity import ServerIdentity, identify
from harness.runners.http.client import Client, ServerAddress
from schemas.submission import Engine
from tests.harness.openai import fake_answers
from tests.harness.openai.fake_answers import FINGERPRINT, MODEL
from tests.harness.openai.fake_server import serving
from tests.harness.openai.sessions import on_fakes, open_session, plan


@pytest.mark.parametrize(
    ("style", "name", "version"),
    [
        ("vllm", "vLLM", "0.32.0+cpu"),
        ("sglang", "SGLang", "0.5.21"),
        ("ollama", "Ollama", "0.12.3"),
        ("lm-studio", "LM Studio", "unknown"),
        ("mlx-lm", "mlx-lm", "0.32.2"),
        ("plain", "unknown server", "unknown"),
    ],
)
def test_an_engine_is_recorded_under_its_own_name(style: str, name: str, version: str) -> None:
    with serving(style=style) as one:
        session = open_session(plan(), base_url=one.url, spec_base_urls=(one.url,), model=MODEL)
        report = session.report()

    assert report.engine == Engine(
        runner="openai", name=name, version=version, backend=report.engine.backend
    )
    assert report.settings.threads is None


@pytest.mark.parametrize(
    ("software", "name", "version"),
    [
        ("mlx_vlm/0.7.10", "mlx-vlm", "0.7.10"),
        ("KoboldCpp/1.2 (x)", "KoboldCpp", "1.2"),
        ("ann-box/1", "unknown server", "unknown"),
        ("uvicorn", "unknown server", "unknown"),
        (None, "unknown server", "unknown"),
    ],
)
def test_an_engine_of_no_list_has_the_name_and_version_that_it_signs_with(
    software: str | None, name: str, version: str
) -> None:
    with on_fakes(style="plain", software=software) as (session, _, _):
        engine = session.report().engine

    assert (engine.name, engine.version) == (name, version)


@pytest.mark.parametrize(
    ("fingerprint", "backend"),
    [
        (FINGERPRINT, "cpu"),
        ("0.32.2-0.32.4-macOS-15.1-arm64-arm-64bit-applegpu_g14s", "metal"),
        ("0.33.0.dev1-0.32.4+abc-Linux-6.1-x86_64-with-glibc2.36-sm_90", "cuda"),
    ],
)
def test_the_fingerprint_of_mlx_includes_its_device(
    monkeypatch: pytest.MonkeyPatch, fingerprint: str, backend: str
) -> None:
    monkeypatch.setattr(fake_answers, "FINGERPRINT", fingerprint)
    with serving(style="mlx-lm") as server:
        client = Client(address=parse(server.url, option="--base-url"), limit_s=30)

        assert backend_of(identify(client)) == backend


def test_a_llama_server_tells_its_build_and_its_context() -> None:
    with on_fakes(style="llama-server") as (session, _, _):
        report = session.report()

    assert (report.engine.build_number, report.engine.commit) == (10434, "571d0d5")
    assert report.settings.context_tokens == 4096


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.32.0+cpu", "cpu"),
        ("0.11.0+cu129", "cuda"),
        ("0.9.1+rocm631", "rocm"),
        ("0.32.0", None),
        (None, None),
    ],
)
def test_the_mark_of_a_version_names_the_backend(version: str | None, expected: str | None) -> None:
    identity = ServerIdentity(name="vLLM", models=(), version=version)

    assert backend_of(identity) == expected


def test_a_page_that_is_not_an_api_is_refused(tmp_path: Path) -> None:
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = ServerAddress(host="127.0.0.1", port=server.server_port)
        with pytest.raises(BadInputError, match="is not an OpenAI API"):
            identify(Client(address=address, limit_s=30))
        server.shutdown()


@pytest.mark.parametrize(
    ("info", "number", "commit"),
    [("b10434-571d0d5", 10434, "571d0d5"), ("b1-571d0d5", None, "571d0d5"), ("fork", None, None)],
)
def test_a_build_of_llama_cpp_has_a_number_and_a_commit(
    info: str, number: int | None, commit: str | None
) -> None:
    identity = ServerIdentity(name="llama.cpp", models=(), version=info)

    assert identity.build == (number, commit)
