"""Start a real vLLM on this machine with a small model, one server per mode of speculation."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "vllm"
MODEL = "SmolLM2-135M-Instruct"
DRAFT = "SmolLM2-135M-Instruct-pruned-3"
# Maps a mode, which also names its folder of captures, to vLLM's configuration.
SPECULATION: dict[str, dict[str, object] | None] = {
    "none": None,
    "ngram": {
        "method": "ngram",
        "num_speculative_tokens": 5,
        "prompt_lookup_max": 4,
        "prompt_lookup_min": 2,
    },
    "draft_model": {"method": "draft_model", "model": DRAFT, "num_speculative_tokens": 3},
}
SYNTHETIC = {"rejection_sample_method": "synthetic"}
PLUGIN = "synthetic_acceptance"
STARTUP_TIMEOUT_S = 240
STOP_TIMEOUT_S = 30
# The cache is one gigabyte. There is one thread, not bound to a core: waiting threads spin, so that
# on a busy machine a token would take a second. The n-gram drafter has separate threads.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
}


def command(mode: str, *, build: Path = BUILD, length: float | None = None) -> list[str]:
    """The command line of a server in this mode, without a port, to be run in the models' folder.

    With a `length`, every round yields this many tokens, regardless of the draft.
    """
    speculation = SPECULATION[mode]
    if speculation is not None and length is not None:
        speculation = {**speculation, **SYNTHETIC, "synthetic_acceptance_length": length}
    words = [str(build / "venv" / "bin" / "vllm"), "serve", MODEL, "--host", "127.0.0.1"]
    # On processors without bfloat16, a prompt takes four times as long with that type.
    words += ["--dtype", "float32", "--max-model-len", "2048", "--max-num-seqs", "4"]
    words += ["--enforce-eager", "--no-enable-prefix-caching", "--enable-per-request-metrics"]
    if speculation is not None:
        words += ["--speculative-config", json.dumps(speculation)]
        words += ["--per-request-spec-decode-metrics", "detailed"]
    return words


def started(mode: str, *, build: Path = BUILD) -> list[str]:
    """A server's command line with full paths and a `{port}`, to be run in any folder."""
    models = {name: str(build / "models" / name) for name in (MODEL, DRAFT)}
    whole = [models.get(word, word) for word in command(mode, build=build)]
    whole = [word.replace(f'"{DRAFT}"', f'"{models[DRAFT]}"') for word in whole]
    return [*whole, "--served-model-name", MODEL, "--port", "{port}"]


@contextmanager
def running(build: Path, mode: str, *, length: float | None = None) -> Iterator[str]:
    """Run a server in this mode until the `with` block ends; yield the server's base address."""
    port = free_port()
    log = build / f"{mode}{length or ''}.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [*command(mode, build=build, length=length), "--port", str(port)],
            cwd=build / "models",
            env=variables(build) | ({} if length is None else plugin(build)),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            base_url = f"http://127.0.0.1:{port}"
            wait_until_healthy(base_url, server, log)
            yield base_url
        finally:
            stop(server)


def variables(build: Path) -> dict[str, str]:
    """The environment for vLLM: its programs are first on PATH, where it also needs a compiler."""
    path = os.pathsep.join((str(build / "venv" / "bin"), os.environ.get("PATH", os.defpath)))
    return {**os.environ, **ENVIRONMENT, "PATH": path}


def plugin(build: Path) -> dict[str, str]:
    """Install the plugin in the build folder; return the environment in which vLLM finds it."""
    folder = build / "plugins"
    facts = folder / f"{PLUGIN}-1.dist-info"
    facts.mkdir(parents=True, exist_ok=True)
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PLUGIN}\nVersion: 1\n")
    (facts / "entry_points.txt").write_text(
        f"[vllm.general_plugins]\n{PLUGIN} = {PLUGIN}:register\n"
    )
    shutil.copy(Path(__file__).with_name(f"{PLUGIN}.py"), folder)
    return {"PYTHONPATH": str(folder)}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def ask(base_url: str, path: str) -> bytes:
    """Send a GET request and return the body of the response."""
    with closing(HTTPConnection(urlsplit(base_url).netloc, timeout=300)) as connection:
        connection.request("GET", path)
        return connection.getresponse().read()


def wait_until_healthy(base_url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + STARTUP_TIMEOUT_S
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError(
                f"vLLM ended with code {server.returncode} before it was ready; see {log}."
            )
        try:
            ask(base_url, "/health")
        except (OSError, HTTPException):
            time.sleep(1)
        else:
            return
    raise RuntimeError(f"vLLM was not ready after {STARTUP_TIMEOUT_S} s; see {log}.")


def stop(server: subprocess.Popen[bytes]) -> None:
    """Stop the server, which stops its workers; kill the rest of its process group."""
    server.terminate()
    try:
        server.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    with suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)
