"""What is in the packages that are published: the page and the licence."""

import email
import importlib.metadata
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import pytest

HERE = pathlib.Path(__file__).parents[1]
LICENSES = ["LICENSE-APACHE", "LICENSE-MIT"]


def check(metadata):
    assert metadata["License-Expression"] == "MIT OR Apache-2.0"
    assert sorted(metadata.get_all("License-File")) == [f"licenses/{name}" for name in LICENSES]
    page = metadata.get_payload() or metadata["Description"]
    assert page.splitlines()[0] == "# numeric_table for Python"
    links = re.findall(r"\]\(([^)]*)\)|<(?:img|a)[^>]*=\"([^\"]*)\"", page)
    assert all(link.startswith(("https://", "#")) for link in map("".join, links))  # an index resolves no others
    assert "Typing :: Typed" in metadata.get_all("Classifier") and metadata["Keywords"]
    assert not [name for name in metadata.get_all("Classifier") if name.startswith("License")]  # but an expression


@pytest.mark.skipif(not (HERE.parent / "LICENSE-MIT").exists(), reason="not in the repository")
def test_the_licences_are_those_of_the_library():
    assert sorted(file.name for file in (HERE / "licenses").iterdir()) == LICENSES
    for name in LICENSES:
        assert (HERE / "licenses" / name).read_bytes() == (HERE.parent / name).read_bytes()


def test_an_installed_package_has_its_page_and_its_licence():
    try:
        check(importlib.metadata.metadata("numeric-table"))
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("it is not installed")


def test_a_source_distribution_and_what_is_built_of_it_have_the_page_and_the_licence(tmp_path):
    maturin = pathlib.Path(sys.executable).with_name("maturin")
    if not maturin.exists() or not shutil.which("cargo") or not (HERE / "pyproject.toml").exists():
        pytest.skip("needs maturin and Cargo")
    subprocess.run([maturin, "sdist", "--out", tmp_path], cwd=HERE, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(tmp_path, filter="data")
    (folder,) = [path for path in tmp_path.iterdir() if path.is_dir()]
    check(email.message_from_string((folder / "PKG-INFO").read_text()))
    tests = {path.relative_to(folder).parts[:2] for path in folder.rglob("*") if "tests" in path.relative_to(folder).parts}
    assert ("python", "tests") in tests and ("tests", "common") in tests  # the second is a member of the workspace
    foreign = {path for path in tests if path[0] in ("tests", "crates", "data")} - {("tests",), ("tests", "common")}
    assert all(path[0] == "crates" for path in foreign) and not list(folder.glob("crates/*/tests"))
    assert not (folder / "data").exists()
    command = [maturin, "pep517", "write-dist-info", "--metadata-directory", tmp_path / "wheel"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (found,) = (tmp_path / "wheel").glob("*.dist-info")
    check(email.message_from_string((found / "METADATA").read_text()))
    assert sorted(file.name for file in (found / "licenses").rglob("LICENSE*")) == LICENSES
