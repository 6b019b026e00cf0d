"""Secrets are refused and personal data flagged in every text; versions are neither."""

import json
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pipeline.intake.authorship import Sending, sending_findings
from schemas import contract, private
from schemas.codec import canonical_bytes
from schemas.submission import Submission
from tests.nightly import few
from tests.pipeline.repositories import name_of
from tests.samples import sample, sample_bytes
from tools.private import main as check_site

LETTERS = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5j"
WORDS = {
    "LETTERS": LETTERS,
    "MIXED": LETTERS[:31],
    "HEX": "0123456789abcdef" * 2,
    "UPPER": "ABCDEFGH12345678",
    "DIGITS": "1234567890",
    "ROOT": "/" + "root",
}
TABLE = tomllib.loads(
    (Path(__file__).parents[1] / "data" / "private_texts.toml").read_text("utf-8")
)
ANY = "of any kind"


def texts(name: str) -> list[tuple[str, str]]:
    """The texts of a part of the table, each with its kind."""
    return [(text.format(**WORDS), kind) for kind, all_ in TABLE[name].items() for text in all_]


SECRETS, PERSONAL, HARMLESS = map(texts, ("secrets", "personal", "harmless"))
SAMPLE: dict[str, Any] = json.loads(sample_bytes(sample(prompts_per_task=1, blocks=1)))
PLACES = (
    ("notes",), ("tool", "version"), ("machine", "cpu", "name"), ("machine", "gpus", 0, "name"),
    ("machine", "gpus", 0, "driver"), ("engine", "version"), ("engine", "system_info"),
    ("engine", "devices", 0, "description"), ("target", "name"), ("target", "quantisation"),
    ("target", "derivation"), ("drafts", 0, "name"),
)  # fmt: skip


def placed(text: str, place: tuple[str | int, ...]) -> bytes:
    """A result with a text in one of its free fields."""
    document = json.loads(json.dumps(SAMPLE))
    holder = document
    for part in place[:-1]:
        holder = holder[part]
    holder[place[-1]] = text
    return canonical_bytes(document)


def rules(data: bytes, *labels: str) -> set[str]:
    """The rules by which file and gate refuse a result."""
    found = contract.read(data)
    if isinstance(found, Submission):
        sending = Sending(labels=frozenset(labels))
        found = (*sending_findings(name_of(found), found, sending),)
    return {each.rule for each in found}


@pytest.mark.parametrize(("text", "kind"), SECRETS)
def test_a_secret_is_recognised(text: str, kind: str) -> None:
    assert private.secret(text) == kind or (kind == ANY and private.secret(text))


@pytest.mark.parametrize(("text", "kind"), PERSONAL)
def test_text_that_identifies_a_person_is_recognised(text: str, kind: str) -> None:
    assert private.personal(text) == kind or (kind == ANY and private.personal(text))
    assert private.secret(text) is None


@pytest.mark.parametrize("text", [text for text, _ in HARMLESS])
def test_other_texts_are_left_alone(text: str) -> None:
    assert private.secret(text) is None
    assert private.personal(text) is None


@pytest.mark.parametrize("place", few(PLACES, 2))
def test_none_of_them_is_published_from_any_field(place: tuple[str | int, ...]) -> None:
    # Some fields allow some of the other texts, such as versions of four numbers.
    own = [text for text, kind in (*SECRETS, *PERSONAL) if kind == ANY]

    assert [text for text in own if not rules(placed(text, place))] == []


@pytest.mark.parametrize("place", PLACES)
def test_a_token_is_refused_in_every_free_text(place: tuple[str | int, ...]) -> None:
    found = contract.findings(placed(f"hf_{LETTERS}", place))

    assert found
    # Two fields have a form or a length that a token does not fit.
    assert (found[0].rule == "no-secrets") == (place not in (("tool", "version"), PLACES[9]))
    assert found[0].rule != "no-secrets" or LETTERS not in found[0].message


def test_a_maintainer_may_agree_to_private_data_but_not_to_a_secret() -> None:
    assert "private-data" in rules(placed("John's MacBook Pro", ("notes",)))
    assert "private-data" not in rules(placed("John's MacBook Pro", ("notes",)), "public")
    assert rules(placed("curl -u ada:horse", ("notes",)), "public") == {"no-secrets"}


def test_joiners_allowed_in_notes_hide_no_secret() -> None:
    assert private.secret(f"h\u200df_{LETTERS}") == "a Hugging Face token"
    assert private.personal("ada@exa\u200cmple.org") == "an e-mail address"


def test_a_version_of_four_numbers_is_not_an_ip_address() -> None:
    assert private.personal("10.2.0.7", "$.engine.version") is None
    assert private.personal("10.2.0.7", "$.notes") == "an IP address"


def test_a_word_as_long_as_a_key_is_named_in_a_name_and_nowhere_else() -> None:
    assert private.personal("a1" * 16, "$.target.name") == "a string as long as a key"
    assert private.personal("a1" * 16, "$.target.sha256") is None
    assert private.personal("DeepSeek-R1-0528-Qwen3-8B", "$.target.name") is None


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("SK Telecom AX 4.0 Light Instruct 7B", []),
        (f"glpat {LETTERS[:20]}", ["no-secrets"]),  # its page would be models/glpat-ab3d…
        ("xoxb 1234567890 abcdefghijkl", ["no-secrets"]),
    ],
)
def test_a_name_is_no_secret_in_addresses_either(name: str, rules: list[str]) -> None:
    document: dict[str, Any] = json.loads(sample_bytes(sample(prompts_per_task=1, blocks=1)))
    document["target"]["name"] = name

    found = contract.findings(canonical_bytes(document))

    assert [(each.path, each.rule) for each in found] == [("$.target.name", x) for x in rules]


def test_the_search_takes_linear_time_on_hostile_texts() -> None:
    hostile = ["a." * 50_000, "a-" * 50_000 + "@", "://" + "a" * 100_000, "token" * 20_000]
    began = time.process_time()

    for text in hostile:
        private.secret(text)
        private.personal(text)

    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("page", "code", "printed"),
    [
        ("<td>Chip --api-key</td><td>x86_64</td>", 0, "a.html: a key of a server\n"),
        ("<p>llama.cpp my token: b1234567</p>", 0, "a.html: a password\n"),
        (f"<p>ghp_{LETTERS}</p>", 1, "a.html: a GitHub token\n"),
        ("<p>Nothing</p>", 0, ""),
    ],
)
def test_adjacent_personal_texts_do_not_stop_a_deployment_but_a_token_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], page: str, code: int, printed: str
) -> None:
    (tmp_path / "a.html").write_text(page, "utf-8")

    assert check_site(tmp_path) == code
    assert capsys.readouterr().out == printed
