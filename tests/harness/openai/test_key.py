"""A key comes from the environment and goes only to the server."""

from pathlib import Path

import pytest

from harness.errors import BadInputError, MachineError
from harness.openai import connect
from harness.openai.endpoints import api_key
from harness.runners.options import ConnectionOptions
from schemas.codec import encode
from tests.harness.campaigns import run
from tests.harness.openai.fake_server import serving
from tests.harness.openai.sessions import open_session, plan

KEY = "sk-5ecret-k3y"


def test_only_our_own_variable_is_read() -> None:
    assert api_key({"DRAFTMAP_API_KEY": "ours\n", "OPENAI_API_KEY": "another"}) == "ours"
    assert api_key({"DRAFTMAP_API_KEY": " ", "OPENAI_API_KEY": "another"}) is None
    assert api_key({}) is None


def test_an_invalid_key_is_refused_without_being_shown() -> None:
    with pytest.raises(BadInputError, match="DRAFTMAP_API_KEY") as raised:
        api_key({"DRAFTMAP_API_KEY": "one\r\nHost: other"})

    assert "Host" not in str(raised.value)


def test_missing_and_wrong_keys_have_different_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-service")
    monkeypatch.delenv("DRAFTMAP_API_KEY", raising=False)
    with serving(key=KEY) as server:
        without = open_session(plan(), base_url=server.url, spec_base_urls=(server.url,))
        with pytest.raises(MachineError, match="requires a key: set DRAFTMAP_API_KEY"):
            without.report()
        assert not any("Authorization" in each for each in server.state.headers)
        monkeypatch.setenv("DRAFTMAP_API_KEY", "another-k3y")
        wrong = open_session(plan(), base_url=server.url, spec_base_urls=(server.url,))
        with pytest.raises(MachineError, match="refused the key in DRAFTMAP_API_KEY") as raised:
            wrong.report()

    assert "another-k3y" not in str(raised.value)  # the server repeats it in its message


def test_the_key_reaches_the_server_and_is_in_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRAFTMAP_API_KEY", KEY)
    said: list[str] = []
    work_file = tmp_path / "work.jsonl"
    with serving(key=KEY) as base, serving(key=KEY, depth=3) as other:
        options = ConnectionOptions(base_url=base.url, spec_base_urls=(other.url,))
        adapter = connect(options)
        submission = run(
            plan(blocks=1),
            work_file,
            runner=adapter.open,
            observe=lambda event: said.append(repr(event)),
        )

        assert base.state.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert {trial.outcome for trial in submission.trials} == {"ok"}
    assert KEY not in work_file.read_text()
    assert KEY not in repr(encode(submission))
    assert KEY not in "".join(said)
    assert KEY not in repr(options)
