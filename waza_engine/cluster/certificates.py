"""Certificates of a cluster: a folder with one key pair, which every machine of the cluster has a copy of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine import files
from waza_engine.runs.loading.suite_on_disk import SuiteError

if TYPE_CHECKING:
    from distributed.security import Security

CERTIFICATE, KEY = "certificate.pem", "key.pem"


def make_certificates(folder: Path) -> None:
    """Write a new certificate and its key, valid for a year. Raises ``SuiteError``, also when there are some.

    The certificate is its own authority: whoever has the folder belongs to the cluster.
    """
    from distributed.security import Security

    made = Security.temporary().get_tls_config_for_role("worker")
    created: list[Path] = []
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, content in ((KEY, made["key"]), (CERTIFICATE, made["cert"])):
            with files.create_file(folder / name) as file:
                created.append(folder / name)
                (folder / name).chmod(0o600)
                file.write(content.encode())
    except OSError as error:
        # A part of a pair would be taken for a whole one the next time.
        for path in created:
            path.unlink(missing_ok=True)
        why = "there is one already" if isinstance(error, FileExistsError) else error.strerror or error
        raise SuiteError(f"No certificate can be written to {folder}: {why}.") from None


def security_of(folder: Path | None, address: str) -> Security | None:
    """Return the security of a connection: with the certificates of a folder, or as Dask's settings say.

    None for a connection that is not encrypted. Raises ``SuiteError`` when there are no certificates.
    """
    from distributed.security import Security

    if address.startswith("tcp:"):
        return None
    if folder is None:
        configured = Security()
        if configured.tls_ca_file is None:
            raise SuiteError(
                f"{address} needs certificates: name their folder with `--tls`; "
                "`waza-engine cluster certificates` makes them."
            )
        return configured
    # Processes that Dask starts elsewhere have working directories of their own.
    certificate, key = (folder.absolute() / name for name in (CERTIFICATE, KEY))
    for file in (certificate, key):
        if not file.is_file():
            raise SuiteError(
                f"There is no {file}; `waza-engine cluster certificates` makes it, once for all machines."
            )
    both = {
        f"tls_{role}_{kind}": str(file)
        for role in ("client", "scheduler", "worker")
        for kind, file in (("cert", certificate), ("key", key))
    }
    return Security(require_encryption=True, tls_ca_file=str(certificate), **both)
