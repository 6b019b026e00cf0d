"""The installed vLLM offers no way to draft that the vocabulary does not know."""

from tests.engine_choices import of_vllm, unknown
from tools.vllm.environment import BUILD


def test_every_method_of_the_installed_vllm_is_measured_or_refused() -> None:
    (source,) = BUILD.glob("venv/lib/python*/site-packages/vllm/config/speculative.py")
    offered = of_vllm(source)

    assert {"ngram", "draft_model", "eagle3"} <= offered
    assert unknown("vLLM", offered) == set()
