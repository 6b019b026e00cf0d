"""How scheduler and workers reach each other: addresses, keys, and who may connect.

Whoever reaches a scheduler can run commands on all its workers. So every connection is encrypted
and both ends show the key of the fleet; without it only the loopback address is allowed.
"""

import ipaddress
import logging
import os
import platform
import re
import socket
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dask
import platformdirs
from distributed.security import Security

from harness.errors import BadInputError, MachineError, UsageError
from harness.files import written

PORT = 8786
_CERTIFICATE, _KEY = "fleet.pem", "fleet.key"
_ADDRESS = re.compile(r"(?:(?P<scheme>[a-z]+)://)?(?P<host>\[[^\]]+\]|[^:/\s]+)(?::(?P<port>\d+))?")
# A worker is lost when its machine is silent for so long; a cell is never given to another because
# a worker died several times, the fleet counts attempts itself.
_CONFIG = {
    "distributed.scheduler.allowed-failures": 1_000_000,
    "distributed.scheduler.worker-ttl": "2 minutes",
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.scheduler.work-stealing": False,
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.admin.large-graph-warning-threshold": "1GB",
    "distributed.comm.timeouts.connect": "10s",
}
LOOPBACK = "127.0.0.1"
_ANYWHERE = ("0.0.0.0", "[::]")  # noqa: S104 - compared with, not listened to


def configure() -> None:
    """Set what holds for every scheduler and worker; the fleet itself says what happens."""
    dask.config.set(_CONFIG)
    warnings.filterwarnings("ignore", module="distributed")
    for name in ("distributed", "distributed.client", "distributed.worker", "tornado"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a scheduler listens."""

    host: str
    port: int
    encrypted: bool = True

    def __str__(self) -> str:
        """As a worker needs it."""
        return f"{self.scheme}://{self.host}:{self.port}"

    @property
    def scheme(self) -> str:
        return "tls" if self.encrypted else "tcp"

    def there(self) -> "Address":
        """The address for programs of other machines."""
        return replace(self, host=platform.node()) if self.host in _ANYWHERE else self

    def here(self, port: int) -> "Address":
        """The address for programs of this machine, at the port that was found free."""
        return replace(self, host=LOOPBACK if self.host in _ANYWHERE else self.host, port=port)

    @property
    def loopback(self) -> bool:
        """Whether only programs of this machine can reach it."""
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return self.host == "localhost"


def address(text: str, flag: str, *, encrypted: bool) -> Address:
    """The address in a text such as `0.0.0.0:8786` or `tls://head:8786`. Raises `UsageError`."""
    match = _ADDRESS.fullmatch(text)
    if match is None or match["scheme"] not in (None, "tls", "tcp"):
        message = f"{flag} {text}: give an address such as tls://192.0.2.7:{PORT}"
        raise UsageError(message)
    found = Address(
        host=match["host"],
        port=int(match["port"] or PORT),
        encrypted=encrypted and match["scheme"] != "tcp",
    )
    if not found.encrypted and not found.loopback:
        message = (
            f"{flag} {text}: whoever reaches a scheduler can run commands on its workers; "
            f"use tls://{found.host}:{found.port} without --no-tls"
        )
        raise UsageError(message)
    return found


def require_usable(at: Address) -> None:
    """Raise `MachineError` when no program can listen there: it is taken, or another machine's."""
    family = socket.AF_INET6 if ":" in at.host else socket.AF_INET
    try:
        with socket.create_server((at.host.strip("[]"), at.port), family=family):
            pass
    except OSError as error:
        message = f"{at} cannot be used ({error.strerror}); choose another --listen"
        raise MachineError(message) from error


def default_keys() -> Path:
    """The folder of the keys where none is named."""
    return Path(platformdirs.user_config_dir("draftmap")) / "fleet"


def make_keys(folder: Path) -> bool:
    """Write a key and a certificate into a folder; whether there were none before."""
    if (folder / _KEY).exists() and (folder / _CERTIFICATE).exists():
        return False
    made = Security.temporary()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        for name, text in ((_KEY, made.tls_client_key), (_CERTIFICATE, made.tls_ca_file)):
            with written(folder / name) as part:
                part.touch(mode=0o600)
                part.write_text(text, "ascii")
    except OSError as error:
        message = f"{folder} cannot be written ({error.strerror}); choose another --tls folder"
        raise MachineError(message) from error
    return True


def security(at: Address, folder: Path) -> Any:  # noqa: ANN401 - of the library
    """The keys of the fleet as the library takes them; `None` for plain connections.

    Raises `BadInputError` where the folder has none, or others could read them.
    """
    if not at.encrypted:
        return None
    key, certificate = folder / _KEY, folder / _CERTIFICATE
    for path in (key, certificate):
        if not path.is_file():
            message = (
                f"no {path.name} in {folder}; copy it from the machine of the scheduler, "
                "and name its folder with --tls"
            )
            raise BadInputError(message)
    if os.name == "posix" and key.stat().st_mode & 0o077:
        message = f"{key} can be read by others: whoever has it can run commands; chmod 600 {key}"
        raise BadInputError(message)
    pair = {"cert": str(certificate), "key": str(key)}
    roles = ("scheduler", "worker", "client")
    return Security(
        tls_ca_file=str(certificate),
        require_encryption=True,
        **{f"tls_{role}_{part}": path for role in roles for part, path in pair.items()},
    )
