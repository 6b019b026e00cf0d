"""Only a server on this machine may be measured, and a URL never holds a secret."""

import pytest

from harness.errors import BadInputError
from harness.machine.command_line import join_command, split_command
from harness.runners.http.client import ServerAddress
from harness.runners.openai.endpoints import parse, with_port, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://127.0.0.1:8000", ServerAddress(host="127.0.0.1", port=8000)),
        ("http://localhost:1234/v1/", ServerAddress(host="localhost", port=1234)),
        ("http://[::1]:8000/v1", ServerAddress(host="::1", port=8000)),
        ("https://127.0.0.2", ServerAddress(host="127.0.0.2", port=443, secure=True)),
        (
            "http://localhost:1234/api/v0",
            ServerAddress(host="localhost", port=1234, root="/api", api="/api/v0"),
        ),
        (
            "http://localhost:9/engine",
            ServerAddress(host="localhost", port=9, root="/engine", api="/engine/v1"),
        ),
    ],
)
def test_a_url_is_read_with_or_without_its_version(text: str, expected: ServerAddress) -> None:
    assert parse(text, option="--base-url") == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ftp://127.0.0.1/x", "only http and https"),
        ("127.0.0.1:8000", "only http and https"),
        ("file:///etc/passwd", "only http and https"),
        ("http://", "only http and https"),
        ("http://127.0.0.1:port", "is not a URL"),
        ("http://127.0.0.1:8000/v1?key=1", "leave out what follows"),
        ("http://192.168.0.7:8000", "the result file describes this one"),
        ("http://gpu-box:8000", "gpu-box may be another machine"),
        ("http://0.0.0.0:8000", "may be another machine"),
        ("http://127.0.0.1.example.org", "may be another machine"),
    ],
)
def test_what_is_no_server_of_this_machine_is_refused_in_one_line(text: str, why: str) -> None:
    with pytest.raises(BadInputError, match=r"^--base-url") as raised:
        parse(text, option="--base-url")

    assert why in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_password_in_a_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(BadInputError) as raised:
        parse("http://me:hunter2@127.0.0.1:8000", option="--base-url")

    assert "DRAFTMAP_API_KEY" in str(raised.value)
    assert "hunter2" not in str(raised.value)


def test_an_address_is_shown_as_a_url() -> None:
    assert str(parse("http://[::1]:8000/v1", option="--base-url")) == "http://[::1]:8000"


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


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            r"vllm serve C:\models\q --port {port}",
            ["vllm", "serve", r"C:\models\q", "--port", "{port}"],
        ),
        (
            r'"C:\Program Files\s.exe" -m "D:\a b\c.gguf"',
            [r"C:\Program Files\s.exe", "-m", r"D:\a b\c.gguf"],
        ),
        (r's --config "{\"method\": \"ngram\"}"', ["s", "--config", '{"method": "ngram"}']),
        (r"s --config {\"method\":\"ngram\"} x", ["s", "--config", '{"method":"ngram"}', "x"]),
        ("""s --config '{"method": "ngram"}' x""", ["s", "--config", '{"method": "ngram"}', "x"]),
        (r"D:\O'Brien\s.exe don't", [r"D:\O'Brien\s.exe", "don't"]),
        ('--name="a b"', ["--name=a b"]),
    ],
)
def test_a_command_keeps_its_paths_and_quotes_on_windows(line: str, expected: list[str]) -> None:
    assert split_command(line, windows=True) == expected


def test_a_command_splits_as_a_shell_does_elsewhere() -> None:
    line = """s --config '{"method": "ngram"}' a\\ b"""

    assert split_command(line, windows=False) == ["s", "--config", '{"method": "ngram"}', "a b"]


def test_a_quotation_without_an_end_is_refused_on_both() -> None:
    for windows in (True, False):
        with pytest.raises(ValueError, match="No closing quotation"):
            split_command('s "a b', windows=windows)


def test_what_is_shown_of_a_command_is_read_back_as_it_was() -> None:
    words = ["s", "--config", '{"method": "ngram"}', r"C:\a b\c"]

    for windows in (True, False):
        assert split_command(join_command(words, windows=windows), windows=windows) == words
