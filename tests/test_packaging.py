"""What is published: the files, the metadata and the types of the Python packages."""

import email
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.check

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
REPOSITORY = PROJECT["urls"]["Repository"]


def run(*command: object, cwd: Path = ROOT) -> str:
    """Return the output of a command that succeeds."""
    found = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, encoding="utf-8", check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder)
    (file,) = folder.glob("*.tar.gz")
    return file


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that pip builds from the source distribution, without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "wheel", "--no-index", "--no-deps", "--no-build-isolation")
    run(*pip, "--wheel-dir", folder, sdist)
    (file,) = folder.glob("*.whl")
    return file


def test_the_source_distribution_has_what_users_need(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        files = {name.partition("/")[2] for name in archive.getnames()}
    tops = {name.partition("/")[0] for name in files}
    expected = {
        "CHANGELOG.md",
        "waza_engine",
        "server",
        "docs",
        "examples",
        "README.md",
        "LICENSE",
        "PKG-INFO",
    }
    assert tops - {".gitignore"} == expected | {"hatch_build.py", "pyproject.toml"}
    assert {name.split("/")[1] for name in files if name.startswith("server/")} == {"waza_language_server"}
    assert not [name for name in files if "test" in name.split("/")[0] or name.endswith(".png")]


def test_the_wheel_of_the_source_distribution_is_complete(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {"waza_engine/py.typed", "waza_language_server/py.typed"} <= set(names)
    assert "waza_language_server/docs/graders.md" in names
    built = {name for name in names if name.endswith(".py")}
    sources = {
        path.relative_to(folder).as_posix()
        for folder, package in ((ROOT, "waza_engine"), (ROOT / "server", "waza_language_server"))
        for path in (folder / package).rglob("*.py")
    }
    assert built == sources


def test_a_package_index_shows_authors_classifiers_and_working_links(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
    assert metadata["Author"]
    assert metadata["Keywords"]
    pythons = {line.rpartition(" ")[2] for line in metadata.get_all("Classifier", []) if "3." in line}
    assert pythons == {"3.11", "3.12", "3.13", "3.14"}
    text = metadata.get_payload(decode=True)
    assert isinstance(text, bytes)
    links = re.findall(r'(?:\]\(|src="|srcset=")([^)"\s]+)', text.decode("utf-8"))
    assert len(links) > 20
    for link in links:
        below = re.fullmatch(rf"{re.escape(REPOSITORY)}/(?:blob|raw)/HEAD/([^#]+)(?:#.*)?", link)
        assert below is None or (ROOT / below[1]).exists(), link
        assert "://" in link or link.startswith("#"), link
    pictures = [link for link in links if link.endswith(".png")]
    assert pictures
    assert all(link.startswith(f"{REPOSITORY}/raw/") for link in pictures)


def test_a_type_checker_accepts_the_documented_grader(tmp_path: Path) -> None:
    """pyright checks the packages themselves (`make lint`)."""
    page = (ROOT / "docs" / "custom-graders.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "length.py").write_text(code, "utf-8")
    python = ("--python-executable", sys.executable)
    run(sys.executable, "-m", "mypy", "--strict", *python, "length.py", cwd=tmp_path)
