"""The key with which scheduler and workers authenticate: a scheduler runs commands on workers."""

import os
from pathlib import Path

from distributed.security import Security

from harness.errors import BadInputError
from harness.files import written

_CERTIFICATE, _KEY = "fleet.pem", "fleet.key"


def make_key(folder: Path) -> None:
    """Write a key and a certificate into a folder, unless it has a key. Raises `BadInputError`."""
    if (folder / _KEY).exists():
        return
    made = Security.temporary()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, text in ((_CERTIFICATE, made.tls_ca_file), (_KEY, made.tls_client_key)):
            with written(folder / name) as part:
                part.touch(mode=0o600)
                part.write_text(text, "ascii")
    except OSError as error:
        raise BadInputError(
            f"{folder} cannot be written ({error.strerror}); choose another --tls folder"
        ) from error


def security(folder: Path) -> Security:
    """Load the fleet's key. Raises `BadInputError` if it is missing, or other users can read it."""
    key, certificate = folder / _KEY, folder / _CERTIFICATE
    if not (key.is_file() and certificate.is_file()):
        raise BadInputError(
            f"no {_KEY} and {_CERTIFICATE} in {folder}; copy the folder from the first machine"
        )
    if os.name == "posix" and key.stat().st_mode & 0o077:
        raise BadInputError(
            f"{key} is readable by other users, who could use it to run commands; run chmod "
            f"600 {key}"
        )
    files = {"cert": str(certificate), "key": str(key)}
    roles = ("scheduler", "worker", "client")
    return Security(
        tls_ca_file=str(certificate),
        require_encryption=True,
        **{f"tls_{role}_{part}": path for role in roles for part, path in files.items()},
    )
