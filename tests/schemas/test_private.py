"""Secrets are refused and personal data flagged in every text; versions are neither."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from schemas import contract, private
from schemas.codec import canonical_bytes
from tests.samples import sample, sample_bytes
from tools.private import main as check_site

LETTERS = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5j"
SECRETS = {
    f"ghp_{LETTERS}": "a GitHub token",
    f"github_pat_{LETTERS}": "a GitHub token",
    f"glpat-{LETTERS[:20]}": "a GitLab token",
    f"hf_{LETTERS}": "a Hugging Face token",
    f"sk-proj-{LETTERS}": "an API key",
    f"--api-key sk-{LETTERS}": "an API key",
    "AKIA" + "ABCDEFGH12345678": "an AWS key",
    **dict.fromkeys(
        [
            f"{mark}{LETTERS}"
            for mark in (
                "sk_test_",
                "GOCSPX-",
                "ya29.",
                "dckr_pat_",
                "pplx-",
                "fw_",
                "hvs.",
                "dapi",
                "tskey-",
                "sbp_",
                "rpa_",
                "SG.",
                "AGE-SECRET-KEY-1",
                "https://x.blob.core.windows.net/y?sig=",
            )
        ],
        "an API key",
    ),
    f"123456789:AA{LETTERS[:33]}": "an API key",
    "https://hooks.slack.com/services/T0/B0/x": "an API key",
    "https://discord.com/api/webhooks/12/x": "an API key",
    f"glrt-{LETTERS[:20]}": "a GitLab token",
    "xoxb-" + "1234567890-abc": "a Slack token",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.x": "a signed token",
    "-----BEGIN OPENSSH PRIVATE KEY-----": "a private key",
    "https://ada:hunter22@example.org": "a password in an address",
    f"Authorization: Bearer {LETTERS[:20]}": "an authorization header",
    "HF_TOKEN=correct-horse-9": "a password",
    "password: hunter2hunter2": "a password",
}
PERSONAL = {
    "ada.l@mail.example.org": "an e-mail address",
    "/home/ada/models/x.gguf": "a home folder",
    "/Users/ada/x": "a home folder",
    "C:\\Users\\Ada\\x": "a home folder",
    "/" + "root/x.gguf": "a home folder",
    **dict.fromkeys(
        [
            "\\\\nas\\ada",
            "/media/ada",
            "/Volumes/ada",
            "/gpfs/users/ada",
            "C:\\Documents and Settings\\Ada",
        ],
        "a home folder",
    ),
    **dict.fromkeys(
        ["DESKTOP-A1B2C3D", "gpu17.cluster.acme.com", "box.tail1.ts.net", "Adas-MacBook-Pro"],
        "a host name",
    ),
    "S-1-5-21-1004336348": "a user's number",
    **dict.fromkeys(
        ["Chip Serial C02XK1ABJG5H", "serial no. 1234-567", "S/N: 7D3K2Q"], "a serial number"
    ),
    "+49 30 1234567": "a telephone number or an account number",
    "DE89 3704 0044 0532 0130 00": "a telephone number or an account number",
    "gpu1.internal": "a host name",
    "GPU-12345678-1234-1234-1234-123456789abc": "a UUID",
    "00:1a:2B:3c:4d:5e": "a MAC address",
    "00-1a-2B-3c-4d-5e": "a MAC address",
    "http://192.168.1.7:8080": "an IP address",
    "8.8.8.8": "an IP address",
    "fe80::1ff:fe23:4567:890a": "an IP address",
}
HARMLESS = (
    "--host 127.0.0.1 --port 8080",
    "2026-11-21T09:00:00Z",
    "llama.cpp b9789 (0c1e57098)",
    "31.0.15.4601",
    "AMD Ryzen 9 7950X @ 4.5GHz",
    "Case open, fans @ 60 %",
    "CPU : SSE3 = 1 | AVX2 = 1 | LLAMAFILE = 1",
    "-m model.gguf --tokens 96 --token-timings",
    "a" * 64,
    "ratio 1:2:3",
    "three serial 4096-token requests, serial requests",
    "unsloth/Qwen3-8B-GGUF",
    "qwen3.8.b.gguf and v0.10.2.dev5",
    "llama3.2.1b-instruct.q4",
    "models/sk-telecom-ax-4-0-light-instruct-7b/",
    "GeForce RTX 4060 Laptop GPU, +12 % at 2100 MHz",
    "::",
)


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_recognised(text: str) -> None:
    assert private.secret(text) == SECRETS[text]


@pytest.mark.parametrize("text", PERSONAL)
def test_text_that_identifies_a_person_is_recognised(text: str) -> None:
    assert private.personal(text) == PERSONAL[text]
    assert private.secret(text) is None


@pytest.mark.parametrize("text", HARMLESS)
def test_other_texts_are_left_alone(text: str) -> None:
    assert private.secret(text) is None
    assert private.personal(text) is None


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


def test_a_token_is_refused_in_every_free_text() -> None:
    document: dict[str, Any] = json.loads(sample_bytes(sample(prompts_per_task=1, blocks=1)))
    token = f"hf_{LETTERS}"
    refused = []
    changed = (
        ("notes",), ("tool", "version"), ("machine", "cpu", "name"), ("machine", "gpus", 0, "name"),
        ("machine", "gpus", 0, "driver"), ("engine", "version"), ("engine", "system_info"),
        ("engine", "devices", 0, "description"), ("target", "name"), ("target", "quantisation"),
        ("target", "derivation"), ("drafts", 0, "name"),
    )  # fmt: skip

    for *parents, last in changed:
        again = json.loads(json.dumps(document))
        place = again
        for part in parents:
            place = place[part]
        place[last] = token
        found = contract.findings(canonical_bytes(again))
        refused += [each.rule for each in found]
        assert found[0].rule != "no-secrets" or token not in found[0].message

    # Two fields have a form or a length that a token does not fit.
    assert len(refused) == len(changed)
    assert refused.count("no-secrets") == len(changed) - 2


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
