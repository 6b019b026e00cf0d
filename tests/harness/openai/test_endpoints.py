"""Only a server on this machine may be measured, and a URL never holds a secret."""

import pytest

from harness.campaign.method_parser import parse as method
from harness.errors import BadInputError
from harness.machine.command_line import join_command, pasted, split_command
from harness.openai.endpoints import check_told, parse
from harness.runners.http.client import ServerAddress
from harness.runners.server_command import command_words, with_port


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
    assert str(parse("http://[::1]:8000/v1", option="--base-url")) == "http://[::1]:8000"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ftp://127.0.0.1/x", "not an http or https URL"),
        ("127.0.0.1:8000", "write http://127.0.0.1:8000"),
        ("file:///etc/passwd", "not an http or https URL"),
        ("http://", "not an http or https URL"),
        ("http://127.0.0.1:port", "is not a URL"),
        ("http://127.0.0.1:8000/v1?key=1", "leave out everything after"),
        ("http://192.168.0.7:8000", "the result file describes this machine"),
        ("http://gpu-box:8000", "gpu-box may be another machine"),
        ("http://0.0.0.0:8000", "may be another machine"),
        ("http://127.0.0.1.example.org", "may be another machine"),
        ("http://127.0.0.1:1/v1/chat/completions", "ends with /v1; leave out /chat/completions"),
        ("http://me:hunter2@127.0.0.1:8000", "put the server's key into DRAFTMAP_API_KEY"),
    ],
)
def test_an_address_of_another_machine_is_refused_in_one_line(text: str, why: str) -> None:
    with pytest.raises(BadInputError, match=r"^--base-url") as raised:
        parse(text, option="--base-url")

    assert why in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "hunter2" not in str(raised.value)


def test_words_are_split_as_a_shell_does_and_get_the_port() -> None:
    command = command_words(
        "serve 'my model' --port {port} --url=:{port}", option="--server-command"
    )

    assert command == ("serve", "my model", "--port", "{port}", "--url=:{port}")
    assert with_port(command, 8123) == ("serve", "my model", "--port", "8123", "--url=:8123")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("vllm serve model", "write {port}"),
        ("vllm serve 'model --port {port}", "quote the command as for a shell"),
        ("", "write {port}"),
    ],
)
def test_a_command_without_a_place_for_the_port_is_refused(text: str, why: str) -> None:
    with pytest.raises(BadInputError, match=r"^--server-command") as raised:
        command_words(text, option="--server-command")

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
    for windows in (True, False):
        with pytest.raises(ValueError, match="No closing quotation"):
            split_command('s "a b', windows=windows)


def test_a_command_is_pasted_into_the_shell_of_the_system() -> None:
    words = [r"C:\a b\llama-server.exe", "-m", "it's.gguf", "--device", "0,1", "@{-1}", ""]

    # PowerShell runs a quoted program only after `&`, and interprets commas and braces.
    assert pasted(words, windows=True) == (
        r"""& 'C:\a b\llama-server.exe' -m "it's.gguf" --device '0,1' '@{-1}' ''"""
    )
    assert pasted(["C:/llama-server.exe", "-c", "8"], windows=True) == "C:/llama-server.exe -c 8"
    assert pasted(["a b", "it's"], windows=False) == """'a b' 'it'"'"'s'"""


def test_a_printed_command_splits_into_the_same_words() -> None:
    words = ["s", "--config", '{"method": "ngram"}', r"C:\a b\c"]

    for windows in (True, False):
        assert split_command(join_command(words, windows=windows), windows=windows) == words


CONFIG = "--speculative-config"


@pytest.mark.parametrize(
    ("asked", "told", "why"),
    [
        ("draft-model", (CONFIG, '{"rejection_sample_method": "fly"}'), "to --method lossy"),
        ("mtp", (CONFIG, '{"rejection_sample_method": "synthetic"}'), "to --method forced"),
        ("draft-model", (CONFIG, '{"parallel_drafting": true}'), "corresponds to --method pard"),
        ("pard", (CONFIG, '{"method": "draft_model"}'), 'does not set "parallel_drafting": true'),
        ("lossy", (CONFIG, '{"method": "mtp"}'), 'not set "rejection_sample_method": "fly"'),
        (
            "eagle3",
            (CONFIG, '{"num_speculative_tokens_per_batch_size": [[1, 4, 3]]}'),
            "controller=NAME",
        ),
        ("dspark", (CONFIG, '{"enable_adaptive_verification": true}'), "controller=NAME"),
        ("eagle3", (CONFIG, '{"method": "medusa"}'), "vLLM's medusa has no method: heads"),
        ("draft-model", ("--speculative-algorithm", "UNO"), "SGLang's UNO has no method"),
        ("draft-model", (CONFIG, '{"method": "qwen3_next_mtp"}'), "use --method mtp"),
        ("mtp", ("--speculative-eagle-topk", "4"), "eagle3:n_max=5,nodes=15 for five levels"),
        ("dflash", ("--draft-kind", "ddtree"), "a tree is measured with its number of drafted"),
        ("eagle3:nodes=15", ("--speculative-eagle-topk", "1"), "a chain has no nodes"),
        (
            "eagle3:nodes=15",
            ("--speculative-eagle-topk", "4", "--speculative-num-draft-tokens", "8"),
            "the server verifies 8 tokens in a round, not 15 and one more",
        ),
        # A command that drafts as asked.
        (
            "eagle3:n_max=5,nodes=15",
            ("--speculative-eagle-topk", "4", "--speculative-num-draft-tokens", "16"),
            None,
        ),
        ("dflash:n_max=7,nodes=31", ("--draft-kind", "ddtree"), None),
        ("prompt-lookup", (CONFIG, '{"method": "ngram_gpu"}'), None),
        (
            "mtp",
            ("--speculative-algorithm", "FROZEN_KV_MTP", "--speculative-eagle-topk", "1"),
            None,
        ),
        ("dflash2", (CONFIG, '{"method": "dflash"}'), None),
        (
            "lossy:n_max=3",
            ("-sc", '{"rejection_sample_method": "fly", "parallel_drafting": true}'),
            None,
        ),
        ("pard", ("--speculative-config.parallel_drafting", "true"), None),
        ("draft-model", (CONFIG, '{"rejection_sample_method": "block"}'), None),
        (
            "dspark:controller=adaptive",
            ("--speculative-config.adaptive_verification=true",),
            None,
        ),
        ("lossy", ("--speculative-algorithm", "EAGLE3"), None),  # another engine's words
        ("mtp", (CONFIG, "of/another/engine"), None),
    ],
)
def test_a_command_must_draft_as_asked(asked: str, told: tuple[str, ...], why: str | None) -> None:
    command = ("vllm", "serve", "M", *told)
    if why is None:
        check_told(command, method(asked))
        return
    with pytest.raises(BadInputError, match=f"--method {method(asked).type}: ") as raised:
        check_told(command, method(asked))

    assert why in str(raised.value)


def test_a_configuration_that_lost_its_quotes_is_refused() -> None:
    command = command_words(
        'vllm serve M -sc {"method":"ngram"} --port {port}', option="--server-command"
    )

    with pytest.raises(BadInputError, match=r"-sc {method:ngram} is not JSON"):
        check_told(command, method("prompt-lookup"))
