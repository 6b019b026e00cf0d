"""A server's command line is run as given and published without places and secrets."""

import pytest

from harness.errors import BadInputError
from harness.runners.openai.command import shown, with_port, words


def test_words_are_split_as_a_shell_does_and_get_the_port() -> None:
    command = words("serve 'my model' --port {port} --url=:{port}", option="--server-command")

    assert command == ("serve", "my model", "--port", "{port}", "--url=:{port}")
    assert with_port(command, 8123) == ("serve", "my model", "--port", "8123", "--url=:8123")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("vllm serve model", "write {port}"),
        ("vllm serve 'model --port {port}", "quote it as for a shell"),
        ("", "write {port}"),
    ],
)
def test_a_command_without_a_place_for_the_port_is_refused(text: str, why: str) -> None:
    with pytest.raises(BadInputError, match=r"^--server-command") as raised:
        words(text, option="--server-command")

    assert why in str(raised.value)


def test_places_and_secrets_are_left_out_of_what_is_shown() -> None:
    command = (
        "/srv/ann/bin/vllm", "serve", "/srv/ann/models/tiny", "Qwen/Qwen3-8B", "--port", "{port}",
        "--api-key", "hunter2", "--hf-token=hunter3", "--max-num-batched-tokens", "512",
        "--tokenizer", "~/tok", "--log=C:\\logs\\x", "--note", "a<b>\tc",
    )  # fmt: skip

    assert shown(command) == (
        "serve", "…", "Qwen/Qwen3-8B", "--port", "{port}",
        "--api-key", "…", "--hf-token=…", "--max-num-batched-tokens", "512",
        "--tokenizer", "…", "--log=…", "--note", "abc",
    )  # fmt: skip


def test_places_inside_of_json_are_left_out_too() -> None:
    config = (
        '{"method": "draft_model", "model": "/srv/ann/draft", "num_speculative_tokens": 3, '
        '"auth_token": "hunter2", "list": ["a/b/c", "Qwen/Qwen3-0.6B"]}'
    )

    (_, word) = shown(("vllm", "--speculative-config", config))

    assert word == (
        '{"method": "draft_model", "model": "…", "num_speculative_tokens": 3, '
        '"auth_token": "…", "list": ["…", "Qwen/Qwen3-0.6B"]}'
    )


def test_what_is_shown_fits_the_format() -> None:
    visible = shown(("x", *("w" * 300 for _ in range(200))))

    assert len(visible) == 128
    assert {len(word) for word in visible} == {200}
