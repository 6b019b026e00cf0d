"""Forty further kinds of secrets and private data are refused or asked about in every free text."""

from dataclasses import replace

import pytest

from pipeline.intake.authorship import Sending, sending_findings
from schemas import contract, private
from schemas.submission import Submission
from tests.nightly import few
from tests.pipeline.repositories import name_of
from tests.samples import sample, sample_bytes

MIXED = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1d"
HEX = "0123456789abcdef0123456789abcdef"
WALLET = "abandon ladder orbit velvet candy museum ripple oxygen timber zebra walnut crater"
# Refused, by schema rule.
SECRETS = (
    "machine example.org login ada password horse", "curl -u ada:horse", "curl --user ada:horse",
    "sshpass -p horse ssh box", "mysql -u root -phorse", "Cookie: id=horse", "X-Api-Key: horse",
    "Authorization: Basic YWRhOmhvcnNlaG9yc2U=", "https://x.org/?access_token=horse",
    "passphrase: horses", "Passwort: pferde", "psk=horses", f"shpat_{HEX}", f"whsec_{MIXED}",
    f"NRAK-{MIXED}", f"lin_api_{MIXED}", f"ntn_{MIXED}", f"figd_{MIXED}", f"PMAK-{MIXED}",
    f"dp.pt.{MIXED}", f"nfp_{MIXED}", f"pscale_tkn_{MIXED}", f"rubygems_{HEX}", f"sq0atp-{MIXED}",
    f"aio_{MIXED}", f"dckr_oat_{MIXED}", f"glsa_{MIXED}", f"1//0{MIXED}", f"AC{HEX}", f"key-{HEX}",
    f"{HEX}-us12", f"xprv{MIXED}{MIXED}", f"0x{HEX}{HEX}", "otpauth://totp/x?secret=JBSW",
    "WIFI:S:home;P:horse;;", "PuTTY-User-Key-File-3: ssh-ed25519", "client-key-data: LS0t",
    "arn:aws:iam::123456789012:user/ada", "DefaultEndpointsProtocol=https;AccountKey=aGk=",
    "Endpoint=sb://x/;SharedAccessKey=aGk=",
)  # fmt: skip
# Published only if a maintainer agrees.
PRIVATE = (
    WALLET, "John's MacBook Pro", "Ada\u2019s gaming PC", "iPhone von Ada", "/mnt/johns-nas/models",
    "smb://tower/models", "ssh://ada@tower", "~ada/models", "ssh ada@tower", "4111 1111 1111 1111",
    "078-05-1120", "52.52000, 13.40500", MIXED, "johns-mbp", HEX,
)  # fmt: skip
HARMLESS = (
    "Cooler replaced, fans at 60 %, ambient 21 C", "token: 96 per answer, tokens/s: 31.5",
    "llama.cpp b9789 with CUDA 12.8, driver 570.86.15, flash attention on",
    "the same run as yesterday but with a smaller batch and a longer context than before",
    "Qwen3-Coder-30B-A3B-Instruct-UD-Q4_K_XL, draft Qwen3-0.6B", "PCIe 4.0 x8 because of a riser",
    "AVX512_VNNI = 1 | LLAMAFILE = 1", "user and system time were not measured", "seed: 20261121",
)  # fmt: skip
PLACES = ("notes", "cpu", "gpu", "driver", "target", "engine", "device")
OWN = sample(tasks=("code",), prompts_per_task=1, blocks=1)


def placed(text: str, where: str) -> Submission:
    """The result with a text in one of its free fields."""
    machine, engine = OWN.machine, OWN.engine
    (card, *others), (device, *more) = machine.gpus, engine.devices or ()
    match where:
        case "notes":
            return replace(OWN, notes=text)
        case "cpu":
            return replace(OWN, machine=replace(machine, cpu=replace(machine.cpu, name=text)))
        case "gpu" | "driver":
            named = replace(card, **{"name" if where == "gpu" else where: text})
            return replace(OWN, machine=replace(machine, gpus=(named, *others)))
        case "target":
            return replace(OWN, target=replace(OWN.target, name=text))
        case "engine":
            return replace(OWN, engine=replace(engine, version=text))
    return replace(OWN, engine=replace(engine, devices=(replace(device, description=text), *more)))


def rules(submission: Submission) -> set[str]:
    """The rules by which file and gate refuse a result."""
    found = contract.findings(sample_bytes(submission))
    found = found or (*sending_findings(name_of(submission), submission, Sending()),)
    return {each.rule for each in found}


@pytest.mark.parametrize("text", SECRETS)
def test_a_new_kind_of_secret_is_refused(text: str) -> None:
    assert private.secret(text)


@pytest.mark.parametrize("text", PRIVATE)
def test_a_new_kind_of_private_data_is_asked_about(text: str) -> None:
    assert private.personal(text)
    assert private.secret(text) is None


@pytest.mark.parametrize("text", HARMLESS)
def test_what_people_write_about_a_run_is_neither(text: str) -> None:
    assert private.found(text) is None


@pytest.mark.parametrize("where", few(PLACES, 2))
def test_none_of_them_is_published_from_any_field(where: str) -> None:
    published = [text for text in (*SECRETS, *PRIVATE) if not rules(placed(text, where))]

    assert published == []


def test_a_maintainer_may_agree_to_private_data_but_not_to_a_secret() -> None:
    agreed = Sending(labels=frozenset({"public"}))

    found = [*sending_findings(name_of(OWN), placed("John's MacBook Pro", "notes"), agreed)]

    assert [each.rule for each in found if each.rule != "canonical-name"] == []
    assert rules(placed("curl -u ada:horse", "notes")) == {"no-secrets"}
