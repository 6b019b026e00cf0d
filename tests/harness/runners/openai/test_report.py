"""A backend is told by the server's version or by the person; a machine without a GPU has one."""

import pytest

from harness.errors import BadInputError
from harness.runners.openai.identity import Identity
from harness.runners.openai.report import backend_of, check_backend
from schemas.submission import Cpu, Gpu, Machine

PLAIN = Machine(cpu=Cpu(name="Some CPU"))
WITH_GPU = Machine(cpu=Cpu(name="Some CPU"), gpus=(Gpu(name="Some GPU", vendor="nvidia"),))


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.32.0+cpu", "cpu"),
        ("0.11.0+cu129", "cuda"),
        ("0.9.1+rocm631", "rocm"),
        ("0.32.0", "other"),
        (None, "other"),
    ],
)
def test_the_mark_of_a_version_names_the_backend(version: str | None, expected: str) -> None:
    identity = Identity(name="vLLM", models=(), version=version)

    assert backend_of(identity, WITH_GPU) == expected


def test_without_a_gpu_there_is_only_the_processor() -> None:
    assert backend_of(Identity(name="Ollama", models=()), PLAIN) == "cpu"


def test_a_backend_that_the_format_does_not_know_is_refused() -> None:
    check_backend("vulkan")
    check_backend(None)
    with pytest.raises(BadInputError, match=r"--backend 'cudaa' is none\. Did you mean 'cuda'"):
        check_backend("cudaa")


@pytest.mark.parametrize(
    ("info", "number", "commit"),
    [("b10434-571d0d5", 10434, "571d0d5"), ("b1-571d0d5", None, "571d0d5"), ("fork", None, None)],
)
def test_a_build_of_llama_cpp_has_a_number_and_a_commit(
    info: str, number: int | None, commit: str | None
) -> None:
    identity = Identity(name="llama.cpp", models=(), version=info)

    assert (identity.build_number, identity.commit) == (number, commit)
