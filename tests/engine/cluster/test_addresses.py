"""What `--cluster` takes, and what keeps strangers out."""

import os
import stat
from pathlib import Path

import pytest

pytest.importorskip("distributed")

from waza_engine.cluster.addresses import ClusterAddress, checked_address, cluster_address
from waza_engine.cluster.certificates import make_certificates, security_of
from waza_engine.cluster.cluster_file import read_cluster_file
from waza_engine.cluster.machine_versions import difference, hello, resource_of
from waza_engine.runs.loading.suite_on_disk import SuiteError


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("local:3", ClusterAddress(local=3)),
        ("tls://host:8786", ClusterAddress(address="tls://host:8786")),
        ("tcp://127.0.0.1:1", ClusterAddress(address="tcp://127.0.0.1:1")),
        ("tcp://[::1]:1", ClusterAddress(address="tcp://[::1]:1")),
    ],
)
def test_a_cluster_is_named(written: str, address: ClusterAddress) -> None:
    assert cluster_address(written) == address


@pytest.mark.parametrize(
    "written",
    ["local:0", "local:65", "local:x", "host:8786", "tls://host", "tls://a@host:1", "", "tls://[:1"],
)
def test_anything_else_is_one_sentence(written: str) -> None:
    with pytest.raises(SuiteError, match=r"write [^\n]*\.$"):
        cluster_address(written)


@pytest.mark.parametrize(
    "written",
    ["tcp://10.0.0.1:8786", "tcp://example.org:8786", "tcp://0.0.0.0:8786", "tcp://127.0.0.1.nip.io:1"],
)
def test_an_address_that_is_not_encrypted_is_refused_elsewhere(written: str) -> None:
    with pytest.raises(SuiteError, match="is not encrypted, and a scheduler executes whatever it is sent"):
        checked_address(written, f"`{written}`")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cluster: os.system\n", "`cluster` names a class of clusters, such as"),
        ("cluster: distributed.Client\n", "`cluster` names a class"),
        ("cluster: distributed.utils.import_file\n", "`cluster` names a class"),
        ("cluster: distributed\n", "`cluster` names a class"),
        ("arguments: {}\n", "`cluster` names a class"),
        ("cluster: distributed.LocalCluster\nworker: 3\n", "`worker` is not known"),
        ("cluster: distributed.LocalCluster\nadapt: {maximum: many}\n", "`adapt` takes whole numbers"),
        ("cluster: distributed.LocalCluster\nworkers: 0\n", "`workers` is a whole number"),
        ("cluster: distributed.LocalCluster\nworkers: two\n", "`workers` is a whole number"),
        ("cluster: distributed.LocalCluster\nadapt: {minimum: 1, most: 2}\n", "`adapt` takes whole numbers"),
        ("cluster: distributed.LocalCluster\nadapt: {minimum: 5, maximum: 2}\n", "the lower one first"),
        ("cluster: distributed.LocalCluster\narguments: [1]\n", "`arguments` are those of the class"),
        ("cluster: [\n", "cluster.yaml:"),
    ],
)
def test_what_is_wrong_in_a_file_is_one_sentence(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(SuiteError) as error:
        read_cluster_file(path)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_certificates_are_their_owners(tmp_path: Path) -> None:
    folder = tmp_path / "certificates"
    make_certificates(folder)
    if os.name != "nt":
        modes = [stat.S_IMODE(run_store.stat().st_mode) for run_store in (folder, *folder.iterdir())]
        assert modes == [0o700, 0o600, 0o600]
    before = (folder / "key.pem").read_bytes()
    with pytest.raises(SuiteError, match="there is one already"):
        make_certificates(folder)
    assert (folder / "key.pem").read_bytes() == before
    assert security_of(folder, "tls://host:1") is not None
    with pytest.raises(SuiteError, match="makes it, once for all machines"):
        security_of(tmp_path, "tls://host:1")


def test_versions_are_compared_by_name() -> None:
    assert difference("w", hello()) == ""
    other = {**hello(), "Python": "3.9"}
    assert difference("w", other).startswith("The worker w has Python 3.9, and this machine ")
    assert resource_of(other) != resource_of(hello())
    more = {**hello(), "the grader package mine": "2.0"}
    assert difference("w", more) == (
        "The worker w has the grader package mine 2.0, and this machine not at all; install the same on both."
    )
