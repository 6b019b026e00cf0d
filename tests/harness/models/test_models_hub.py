"""A download from the hub is complete, although connections break and bytes get lost.

The real hub client talks to a fake hub on a loopback port.
"""

import os
import shutil
import socket
import subprocess
import sys
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import BadInputError, MachineError
from harness.models import hub
from harness.models.hub_client import Hub
from harness.models.local_files import cached_files
from tests.harness.fake_hub import COMMIT, FakeHub, serving, sha256
from tests.harness.ggufs import write_gguf

REFERENCE = "Owner/Model-GGUF:Q8_0"
NAME = "Model-Q8_0.gguf"
CONTENT = bytes(range(256)) * 40

Usage = namedtuple("Usage", ["total", "used", "free"])  # noqa: PYI024 - the shape of disk_usage

pytestmark = pytest.mark.usefixtures("cache_dir")


@pytest.fixture
def fake_hub() -> Iterator[FakeHub]:
    with serving(FakeHub("Owner/Model-GGUF", {NAME: CONTENT})) as running:
        yield running


@pytest.fixture
def client(fake_hub: FakeHub, tmp_path: Path) -> Hub:
    return Hub(fake_hub.endpoint, tmp_path / "hub")


def fetch(client: Hub) -> Path:
    return hub.fetch(REFERENCE, client=client, say=lambda _: None).path


def blobs(tmp_path: Path) -> dict[str, bytes]:
    folder = tmp_path / "hub" / "models--Owner--Model-GGUF" / "blobs"
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_ollamas_spelling_names_the_same_file(client: Hub) -> None:
    with_host = hub.fetch(f"hf.co/{REFERENCE}", client=client, say=lambda _: None)

    assert with_host == hub.fetch(REFERENCE, client=client, say=lambda _: None)


def test_a_file_is_stored_where_other_hub_tools_find_it(client: Hub, tmp_path: Path) -> None:
    found = hub.fetch(REFERENCE, client=client, say=lambda _: None)

    path = found.path
    assert found.repository == "Owner/Model-GGUF"
    assert path.read_bytes() == CONTENT
    assert path.relative_to(tmp_path / "hub").as_posix() == (
        f"models--Owner--Model-GGUF/snapshots/{COMMIT}/{NAME}"
    )
    assert blobs(tmp_path) == {sha256(CONTENT): CONTENT}


def test_an_existing_file_is_not_requested_again(client: Hub, fake_hub: FakeHub) -> None:
    first = fetch(client)
    asked = len(fake_hub.asked)

    assert fetch(client) == first
    assert len(fake_hub.asked) == asked


def test_it_says_what_is_fetched_and_how_large_it_is(client: Hub) -> None:
    said: list[str] = []

    hub.fetch(REFERENCE, client=client, say=said.append)

    assert said == ["Fetching Model-Q8_0.gguf (10 kB) from Owner/Model-GGUF …"]


def test_an_interrupted_download_continues(
    client: Hub, fake_hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Chunk size of the client; an interruption loses an incomplete chunk of 10 MB.
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1000)
    fake_hub.cut_after = 4500
    with pytest.raises(MachineError, match=r"could not be fetched .* the download continues"):
        fetch(client)
    assert cached_files("Owner/Model-GGUF", client.cache_dir) == {}
    fake_hub.failing = False

    path = fetch(client)

    assert path.read_bytes() == CONTENT
    assert fake_hub.ranges == [None, "bytes=4000-", "bytes=4000-"]


def test_a_file_with_another_digest_is_reported_set_aside_and_not_used(
    client: Hub, fake_hub: FakeHub, tmp_path: Path
) -> None:
    fake_hub.damaged = True
    digests = sha256(CONTENT[:-1] + b"?")[:12], sha256(CONTENT)[:12]

    said = rf"{NAME} has the SHA-256 {digests[0]}… instead of {digests[1]}….*\.damaged and is not"
    with pytest.raises(MachineError, match=said):
        fetch(client)

    assert list(blobs(tmp_path)) == [f"{sha256(CONTENT)}.damaged"]
    assert cached_files("Owner/Model-GGUF", client.cache_dir) == {}
    fake_hub.damaged = False
    assert fetch(client).read_bytes() == CONTENT


def test_a_full_disk_is_reported_before_anything_is_downloaded(
    client: Hub, fake_hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = Usage(total=10**9, used=10**9, free=1024**2)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)

    with pytest.raises(MachineError, match=rf"too little disk space for {NAME}: .* set HF_HOME"):
        fetch(client)

    assert fake_hub.ranges == []


def test_all_parts_of_a_split_model_are_fetched(client: Hub, fake_hub: FakeHub) -> None:
    names = [f"Model-Q8_0-0000{number}-of-00002.gguf" for number in (1, 2)]
    fake_hub.files = {names[0]: b"first", names[1]: b"second", "README.md": b"text"}

    path = fetch(client)

    assert path.name == names[0]
    assert path.with_name(names[1]).read_bytes() == b"second"


def test_a_missing_quantisation_is_answered_with_the_available_ones(
    client: Hub,
) -> None:
    with pytest.raises(
        BadInputError, match="no file with the quantisation 'Q4_0'; available: Q8_0"
    ):
        hub.fetch("Owner/Model-GGUF:Q4_0", client=client, say=lambda _: None)


def test_a_missing_repository_is_bad_input(client: Hub) -> None:
    with pytest.raises(BadInputError, match="there is no repository Owner/Other on the hub"):
        hub.fetch("Owner/Other:Q8_0", client=client, say=lambda _: None)


def test_terms_that_must_be_accepted_are_reported(client: Hub, fake_hub: FakeHub) -> None:
    fake_hub.refused_with = "GatedRepo"

    with pytest.raises(BadInputError, match="requires you to accept its terms; do so, then `hf"):
        fetch(client)


def test_without_a_network_the_hub_cannot_be_reached(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nobody = Hub(f"http://127.0.0.1:{unused.getsockname()[1]}", tmp_path / "hub")

        with pytest.raises(
            MachineError, match=r"the hub cannot be reached and Owner/.*needs no hub"
        ):
            fetch(nobody)


def test_the_command_fetches_a_model_and_prints_its_path(fake_hub: FakeHub, tmp_path: Path) -> None:
    fake_hub.files[NAME] = write_gguf(tmp_path / "m.gguf").read_bytes()
    here = {"HF_ENDPOINT": fake_hub.endpoint, "HF_HUB_CACHE": str(tmp_path / "hub")}
    command = [sys.executable, "-m", "harness", "models", "get", REFERENCE]

    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **here}, check=False
    )

    assert done.returncode == 0, done.stderr
    path = tmp_path / "hub" / "models--Owner--Model-GGUF" / "snapshots" / COMMIT / NAME
    assert done.stdout == f"{path}\n"
    assert done.stderr.startswith(f"Fetching {NAME} (")
