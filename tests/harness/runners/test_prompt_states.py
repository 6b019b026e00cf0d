"""A prompt is processed once, and its restored state makes no difference, on real weights."""

from collections.abc import Iterator

import pytest

from harness.campaign.model import RunSettings
from harness.models.resolve import resolve
from harness.runners.inprocess.context import Context

pytestmark = pytest.mark.engine

ONE = (504, 4683, 282, 260, 24594)
TWO = (1, 4093, 198, 6330)
SETTINGS = RunSettings(max_output_tokens=8, context_tokens=64, batch_tokens=32, threads=1)


@pytest.fixture(scope="module")
def context() -> Iterator[Context]:
    from harness.runners.inprocess import engine_log  # noqa: PLC0415 - loads the engine
    from harness.runners.inprocess.context import Context  # noqa: PLC0415
    from harness.runners.inprocess.gguf_model import LoadedWeights  # noqa: PLC0415

    engine_log.capture()
    weights = LoadedWeights(resolve("smollm2-135m:q4_1", say=lambda _text: None).path, gpu_layers=0)
    opened = Context(weights, SETTINGS, name="test", outputs=1)
    yield opened
    opened.close()
    weights.close()


def going_on(context: Context, first: int) -> list[int]:
    text = [first]
    while len(text) < SETTINGS.max_output_tokens:
        text.append(context.advance([text[-1]]))
    return text


def test_a_restored_prompt_continues_like_the_first_time(context: Context) -> None:
    from harness.runners.inprocess.prompt_states import PromptStates  # noqa: PLC0415

    states = PromptStates(budget_bytes=10**8)
    fresh = states.ensure_prompt_state(context, ONE)
    expected = going_on(context, fresh.first)
    other = states.ensure_prompt_state(context, TWO)

    again = states.ensure_prompt_state(context, ONE)

    assert fresh.prompt_ms is not None
    assert other.prompt_ms is not None
    assert again.prompt_ms is None
    assert (again.first, again.margin) == (fresh.first, fresh.margin)
    assert going_on(context, again.first) == expected


def test_without_room_a_prompt_is_processed_again(context: Context) -> None:
    from harness.runners.inprocess.prompt_states import PromptStates  # noqa: PLC0415

    states = PromptStates(budget_bytes=100)
    first = states.ensure_prompt_state(context, ONE)
    states.ensure_prompt_state(context, TWO)

    again = states.ensure_prompt_state(context, ONE)

    assert again.prompt_ms is not None
    assert again.first == first.first


def test_the_current_prompt_needs_no_further_room(context: Context) -> None:
    from harness.runners.inprocess.prompt_states import PromptStates  # noqa: PLC0415

    states = PromptStates(budget_bytes=100)
    first = states.ensure_prompt_state(context, ONE)
    expected = going_on(context, first.first)

    again = states.ensure_prompt_state(context, ONE)

    assert again.prompt_ms is None
    assert going_on(context, again.first) == expected


def test_dropped_states_make_room_and_prompts_are_processed_again(context: Context) -> None:
    from harness.runners.inprocess.prompt_states import PromptStates  # noqa: PLC0415

    states = PromptStates(budget_bytes=10**8)
    states.ensure_prompt_state(context, ONE)
    states.clear()
    states.forget(context)

    again = states.ensure_prompt_state(context, ONE)

    assert again.prompt_ms is not None
