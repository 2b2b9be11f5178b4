"""The hash of the code: closed under what is no code, changed by each byte of it."""

import shutil

import pytest

from rfbench import source


@pytest.fixture
def package(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__", "*.j2", "*.md", "*.csv")
    return shutil.copytree(source.PACKAGE, tmp_path / "site-packages" / "rfbench", ignore=ignored)


def test_code_hash_of_a_wheel_equals_that_of_its_checkout(package):
    for name in ("configs/quickstart.yaml", "samplers/__init__.pyi", "__pycache__/a.pyc", "b.md"):
        (package / name).parent.mkdir(exist_ok=True)
        (package / name).write_text("a: 1")
    assert source.hash_folder(package) == source.hash_code()


@pytest.mark.parametrize(
    "change",
    [
        lambda package: (package / "metrics.py").write_bytes(b"# changed"),
        lambda package: (package / "datasets" / "catalog.yaml").write_bytes(b""),
        lambda package: (package / "metrics.py").rename(package / "metric.py"),
        lambda package: (package / "new.py").touch(),
        lambda package: (package / "metrics.py").unlink(),
    ],
)
def test_code_hash_depends_on_file_names_and_contents(package, change):
    change(package)
    assert source.hash_folder(package) != source.hash_code()
