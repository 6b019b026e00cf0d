"""Find a llama-server, and report its version, devices and settings."""

import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from harness.campaign.axis_options import recorded
from harness.campaign.model import Campaign
from harness.errors import BadInputError, MachineError
from harness.files import sha256_of
from harness.machine import engines
from harness.machine.detect import clean_name, machine
from harness.models import thinking
from harness.models.gguf_header import chat_template
from harness.runners.base import EngineReport
from harness.runners.device_placement import backend_named
from harness.runners.devices import default_threads
from harness.runners.llama_server.abilities import Abilities, read_help
from harness.runners.variables import variables
from schemas import public_text
from schemas.rig import BACKENDS, IK_LLAMA_CPP, LLAMA_CPP, Backend
from schemas.submission import Device, Engine, Settings

_LIMIT_S = 60.0
_VERSION = re.compile(r"version:\s*(\S{1,100}+)[ \t]*+(?:$|\(([0-9a-f]{7,40})\))", re.MULTILINE)
_LIBRARY = re.compile(r"\.(?:so|dylib|dll)(?:\.|$)")
_LIST_DEVICES = "--list-devices"
_DEVICE = re.compile(
    r"^[ \t]*+(?P<name>[A-Za-z]+[0-9]*): (?P<what>.+?) "
    r"\((?P<total>\d+) MiB(?:, \d+ MiB free)?\)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    path: Path
    abilities: Abilities

    @property
    def code(self) -> Path:
        """The file with the engine's code: the program, unless a wheel embeds the engine."""
        embedded = self.path.stem == engines.EMBEDDED_PROGRAM
        return (engines.embedded_library() if embedded else None) or self.path

    def identity(self) -> str:
        """Return a digest of the program and of its libraries' names and sizes."""
        libraries = sorted(
            (file.name, file.stat().st_size)
            for file in self.code.parent.iterdir()
            if _LIBRARY.search(file.name) and file.is_file()
        )
        digest = hashlib.sha256(f"{sha256_of(self.code)} {libraries}".encode()).hexdigest()
        return f"{engines.SERVER_PROGRAM} sha256:{digest}"

    def devices(self) -> tuple[Device, ...]:
        return read_devices(self._output(_LIST_DEVICES))

    def backend(self, campaign: Campaign, stated: str | None) -> Backend:
        """Return the backend: from the devices that the build lists, else as `stated` by the user.

        Raises `BadInputError` if neither is known and the machine has a GPU.
        """
        gpu_layers = campaign.settings.gpu_layers
        if _LIST_DEVICES in self.abilities.flags or gpu_layers == 0:
            return backend_named(self.devices(), gpu_layers=gpu_layers)
        if stated in BACKENDS:
            return BACKENDS[stated]
        if machine(os.environ).gpus:
            raise BadInputError(
                f"this build does not support {_LIST_DEVICES}; state its backend, such as "
                "--backend cuda, or measure on the CPU with --gpu-layers 0"
            )
        return "cpu"

    def report(self, campaign: Campaign, stated: str | None) -> EngineReport:
        """Report the engine and its settings, as far as the binary tells them without a model."""
        version, commit, number = read_version(self._output("--version"))
        devices = self.devices()
        return EngineReport(
            engine=Engine(
                runner="llama-server",
                name=IK_LLAMA_CPP if self.abilities.stages else LLAMA_CPP,
                version=version,
                commit=commit,
                build_number=number,
                backend=self.backend(campaign, stated),
                devices=devices or None,
                binary_sha256=sha256_of(self.code),
                variables=variables(os.environ) or None,
            ),
            settings=self._settings(campaign),
        )

    def _settings(self, campaign: Campaign) -> Settings:
        settings, threads = campaign.settings, campaign.settings.threads or default_threads()
        stated = recorded(settings, engines.SERVER_PROGRAM)
        takes_mode, target = "-fa" in self.abilities.takes_value, campaign.target
        template = chat_template(target.on_disk) if target.is_here else None
        return replace(
            stated,
            context_tokens=settings.context_tokens,
            flash_attention=stated.flash_attention if takes_mode else None,
            batch_tokens=settings.batch_tokens,
            micro_batch_tokens=settings.batch_tokens,
            threads=threads,
            threads_batch=threads,
            thinking=thinking.state(template, "", asked=settings.thinking),
        )

    def _output(self, flag: str) -> str:
        return _output(self.path, flag) if flag in self.abilities.flags else ""


def find(path: str | None, option: str = "--server-binary") -> Binary:
    """Find the binary that an option names, or the one on PATH.

    Raises `HarnessError` if it is not a llama-server.
    """
    found = shutil.which(path) if path else engines.server_program()
    if found is None:
        raise BadInputError(_not_found(path, option))
    program = Path(found).absolute()  # a bare name would be searched for on PATH
    text = _output(program, "--help")
    abilities = read_help(text)
    if "--port" not in abilities.flags:
        reason = f" ({text.strip()})" if len(text.strip().splitlines()) == 1 else ""  # loader's
        raise BadInputError(
            f"{found} does not seem to be a llama-server, judging by its --help output{reason}; "
            f"name the {engines.SERVER_PROGRAM} of a llama.cpp build with {option}"
        )
    return Binary(path=program.resolve(), abilities=abilities)


def _not_found(path: str | None, option: str) -> str:
    if path is None:
        return (
            f"no {engines.SERVER_PROGRAM} on PATH; name the binary with {option}, or "
            f"{engines.INSTALL_SERVER}"
        )
    if Path(path).is_dir():
        return f"{path} is a folder; name the {engines.SERVER_PROGRAM} in this folder with {option}"
    if Path(path).is_file():
        return f"{path} is not executable; run chmod +x on it, or name another binary"
    return f"there is no program at {path}; name a {engines.SERVER_PROGRAM} with {option}"


def read_devices(text: str) -> tuple[Device, ...]:
    """Return the devices in the output of `--list-devices`, which omits the CPU."""
    return tuple(
        Device(
            name=match["name"],
            kind="gpu",
            description=public_text.card(clean_name(match["what"])),
            memory_total_mib=int(match["total"]),
        )
        for match in _DEVICE.finditer(text)
    )


def read_version(text: str) -> tuple[str, str | None, int | None]:
    """Return version, commit and build number in the output of `--version`.

    For a build outside llama.cpp's own repository (number 1), the commit is the version, and the
    number is `None`.
    """
    match = _VERSION.search(text)
    if match is None or public_text.version(match[1]) is None:
        return "unknown", None, None
    number = int(match[1]) if match[1].isdecimal() else None
    if number == 1 and match[2]:
        return match[2], match[2], None
    return match[1], match[2], number


def _output(program: Path, flag: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - the program that the user named
            [str(program), flag],
            capture_output=True,
            timeout=_LIMIT_S,
            check=False,
            env=engines.server_environment(program),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MachineError(f"{program} {flag} produced no output: {error}") from error
    return (done.stdout + done.stderr).decode("utf-8", "replace")
