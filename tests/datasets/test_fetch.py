import gzip
import importlib
import lzma
import os

import pytest

from rfbench import datasets
from rfbench.errors import DataError
from tests.support.command_line import call
from tests.support.data_files import LETTERS, letters, sha256, zipped

fetch_module = importlib.import_module("rfbench.datasets.fetch")


@pytest.fixture(autouse=True)
def _once(monkeypatch):
    monkeypatch.setattr(fetch_module, "RETRIES", 0)


def put(folder, name, content):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return folder / name


def serve(site, catalogue):
    put(site.folder, "l.data", LETTERS)
    catalogue(letters([f"{site.address}/l.data"], sha256(LETTERS), archive=False))


def statuses():
    return [check.status for check in datasets.verify("letters")]


class TestLookup:
    def test_folder_of_the_environment_variable_is_searched_first(
        self, home, tmp_path, monkeypatch, catalogue
    ):
        catalogue(letters())
        here = put(home / "letters", "letters.data", LETTERS)
        assert datasets.fetch("letters") == [here]
        there = put(tmp_path / "shared" / "letters", "letters.data", LETTERS)
        monkeypatch.setenv("RFBENCH_DATA", str(tmp_path / "shared"))
        assert datasets.fetch("letters") == [there]
        there.unlink()
        assert datasets.fetch("letters") == [here]

    def test_file_with_wrong_hash_in_the_first_data_folder_is_an_error(
        self, home, tmp_path, monkeypatch, catalogue
    ):
        catalogue(letters(member=sha256(LETTERS)))
        put(home / "letters", "letters.data", LETTERS)
        assert len(datasets.load("letters").y) == 2
        put(tmp_path / "shared" / "letters", "letters.data", LETTERS + b"\n")
        monkeypatch.setenv("RFBENCH_DATA", str(tmp_path / "shared"))
        with pytest.raises(DataError) as caught:
            datasets.load("letters")
        assert sha256(LETTERS) in str(caught.value)
        assert sha256(LETTERS + b"\n") in str(caught.value)

    def test_variable_with_a_missing_folder_raises_error(self, home, monkeypatch):
        monkeypatch.setenv("RFBENCH_DATA", str(home / "nowhere"))
        with pytest.raises(DataError, match="RFBENCH_DATA names"):
            datasets.is_on_disk("letter")

    def test_data_folder_of_the_checkout_is_the_fallback(self, home):
        assert datasets.find_data_folder() == home
        home.rmdir()
        checkout = os.path.dirname(os.path.dirname(datasets.__path__[0]))
        assert str(datasets.find_data_folder()) == os.path.join(checkout, "data")

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("letters.data", LETTERS),
            ("letters.data.gz", gzip.compress(LETTERS)),
            ("letters.data.xz", lzma.compress(LETTERS)),
            ("letters.zip", zipped([("in/letters.data", LETTERS)])),
        ],
    )
    def test_file_may_be_plain_compressed_or_archived(self, home, catalogue, name, content):
        catalogue(letters(["https://x"], sha256(LETTERS)))
        assert not datasets.is_on_disk("letters")
        put(home / "letters", name, content)
        assert datasets.is_on_disk("letters")
        assert statuses() == ["ok"]
        assert datasets.load("letters").y.tolist() == [0, 1]

    def test_full_data_set_never_uses_the_file_of_its_subset(self, home):
        put(home / "covtype", "covtype-20000.data", b"1")
        put(home / "news", "OnlineNewsPopularity-14828.csv", b"1")
        put(home / "cod-rna", "cod-rna", b"1")
        put(home / "buzz", "buzz-14k.csv.xz", b"1")
        for name in ("X_train.txt", "y_train.txt", "subject_train.txt"):
            put(home / "har", name, b"1")
        for part, whole in [
            ("covtype-20k", "covtype"),
            ("news-14k", "news"),
            ("cod-rna-train", "cod-rna"),
            ("buzz-14k", "buzz"),
            ("har-train", "har"),
        ]:
            assert datasets.is_on_disk(part)
            assert not datasets.is_on_disk(whole)

    def test_missing_file_is_reported_with_source_and_expected_location(self, home, catalogue):
        catalogue(letters(["https://one/l.zip", "https://two/l.zip"]))
        with pytest.raises(DataError) as caught:
            datasets.hash_data("letters")
        text = str(caught.value)
        for part in (
            "letters.zip",
            "https://one/l.zip",
            "https://two/l.zip",
            str(home / "letters"),
        ):
            assert part in text

    def test_data_sets_without_files_are_always_available(self, home):
        for name in ("digits", "sphere"):
            assert datasets.is_on_disk(name)
            assert datasets.fetch(name) == datasets.verify(name) == []

    def test_unpacked_files_of_a_pattern_must_be_complete(self, home):
        for day in range(59):
            put(home / "blogfeedback", f"blogData_test-{day:02}.csv", b"1")
        put(home / "blogfeedback", "blogData_train.csv", b"1")
        assert not datasets.is_on_disk("blogfeedback")
        put(home / "blogfeedback", "blogData_test-59.csv", b"1")
        assert datasets.is_on_disk("blogfeedback")


class TestVerify:
    def test_status_is_missing_ok_or_mismatch(self, home, catalogue):
        catalogue(letters(member=sha256(LETTERS)))
        (check,) = datasets.verify("letters")
        assert (check.status, check.source, check.expected) == ("missing", None, sha256(LETTERS))
        path = put(home / "letters", "letters.data", LETTERS)
        (check,) = datasets.verify("letters")
        assert (check.status, check.sha256) == ("ok", sha256(LETTERS))
        assert check.source.paths == (path,)
        put(home / "letters", "letters.data", b"torn")
        (check,) = datasets.verify("letters")
        assert (check.status, check.sha256) == ("mismatch", sha256(b"torn"))

    def test_file_without_known_hash_is_unpinned_and_its_hash_is_shown(self, home, catalogue):
        catalogue(letters())
        put(home / "letters", "letters.data", LETTERS)
        shown = call("data", "verify", "letters")
        assert shown.count(sha256(LETTERS)) == 1
        assert "unpinned" in shown
        assert "to let rfbench check this file, add this hash to the" in shown
        first = datasets.load("letters").sha256
        put(home / "letters", "letters.data", LETTERS.replace(b"1", b"3"))
        assert datasets.load("letters").sha256 != first

    def test_hash_of_an_archive_verifies_its_members(self, home, catalogue):
        archive = zipped([("letters.data", LETTERS)])
        catalogue(letters(["https://x"], whole=sha256(archive)))
        put(home / "letters", "letters.zip", archive)
        assert statuses() == ["ok"]
        put(home / "letters", "letters.zip", zipped([("letters.data", LETTERS + b"\n")]))
        assert statuses() == ["mismatch"]

    def test_alternative_hash_of_a_data_file_is_accepted(self, home, catalogue):
        entry = letters()
        member = entry.files[0].model_copy(update={"also": (sha256(LETTERS),)})
        catalogue(entry.model_copy(update={"files": (member,)}))
        put(home / "letters", "letters.data", LETTERS)
        assert statuses() == ["ok"]
        put(home / "letters", "letters.data", LETTERS.replace(b"1", b"3"))
        assert statuses() == ["unpinned"]

    def test_wrong_archive_lists_its_members(self, home, catalogue):
        catalogue(letters(["https://x"], sha256(LETTERS)))
        put(home / "letters", "letters.zip", zipped([("regression.csv", b"1"), ("notes", b"2")]))
        with pytest.raises(DataError, match="regression.csv, notes"):
            datasets.load("letters")

    def test_unreadable_archive_is_a_mismatch(self, home, catalogue):
        catalogue(letters(["https://x"], sha256(LETTERS)))
        put(home / "letters", "letters.zip", b"no zip")
        assert statuses() == ["mismatch"]
        with pytest.raises(DataError, match="cannot be read"):
            datasets.load("letters")


class TestFetch:
    def test_download_writes_only_into_its_folder(self, home, site, catalogue):
        archive = zipped([("letters.data", LETTERS)])
        put(site.folder, "l.zip", archive)
        catalogue(letters([f"{site.address}/l.zip"], whole=sha256(archive)))
        assert datasets.fetch("letters") == [home / "letters" / "letters.zip"]
        assert [path.name for path in (home / "letters").iterdir()] == ["letters.zip"]
        assert datasets.fetch("letters") == [home / "letters" / "letters.zip"]
        assert site.asked == ["/l.zip"]

    def test_load_downloads_missing_files(self, home, site, catalogue):
        serve(site, catalogue)
        assert datasets.load("letters").X.tolist() == [[1.0] * 16, [2.0] * 16]
        assert all(agent.startswith("rfbench/") for agent in site.agents)

    def test_next_mirror_is_used_if_the_first_fails(self, home, site, catalogue):
        put(site.folder, "bad.data", LETTERS + b"\n")
        put(site.folder, "l.data", LETTERS)
        urls = [f"{site.address}/{name}" for name in ("none.data", "bad.data", "l.data")]
        catalogue(letters(urls, sha256(LETTERS), archive=False))
        (path,) = datasets.fetch("letters")
        assert path.read_bytes() == LETTERS
        assert len(site.asked) >= 3

    def test_interrupted_download_is_retried(self, home, site, catalogue, monkeypatch):
        serve(site, catalogue)
        site.cut.append(len(LETTERS) // 2)
        with pytest.raises(DataError, match="download failed"):
            datasets.fetch("letters")
        monkeypatch.setattr(fetch_module, "RETRIES", 2)
        site.cut.append(len(LETTERS) // 2)
        (path,) = datasets.fetch("letters")
        assert path.read_bytes() == LETTERS
        assert len(site.asked) == 3

    def test_other_archive_with_correct_content_is_accepted(self, home, site, catalogue):
        put(site.folder, "l.zip", zipped([("again/letters.data", LETTERS)]))
        catalogue(letters([f"{site.address}/l.zip"], sha256(LETTERS), whole="0" * 64))
        datasets.fetch("letters")
        assert statuses() == ["ok"]

    def test_download_part_without_url_is_reported(self, home):
        with pytest.raises(DataError, match=r"covtype-20000\.data.*cannot be downloaded"):
            datasets.fetch("covtype-20k")

    def test_folder_that_cannot_be_created_gives_one_error(self, home, catalogue):
        (home / "letters").write_text("a file in the way")
        catalogue(letters(["https://x"]))
        with pytest.raises(DataError, match="download failed"):
            datasets.fetch("letters")

    def test_progress_bar_counts_bytes(self, home, site, catalogue, capsys):
        serve(site, catalogue)
        datasets.fetch("letters", progress=True)
        shown = capsys.readouterr().err
        assert "letters.data" in shown
        assert f"{len(LETTERS)}/{len(LETTERS)} bytes" in shown

    def test_without_progress_bar_nothing_is_printed(self, home, site, catalogue, capfd):
        serve(site, catalogue)
        (path,) = datasets.fetch("letters")
        assert path.stat().st_mode & 0o777 == 0o644
        assert capfd.readouterr() == ("", "")


class TestParts:
    """A file made of the distinct lines of several, as that of the sample of the Buzz data is."""

    @staticmethod
    def entry(site, member=None):
        """The entry of buzz-14k, its address here and the hash of the small files' lines."""
        entry = datasets.find_entry("buzz-14k")
        (download,), (file,) = entry.downloads, entry.files
        change = {
            "downloads": (download.model_copy(update={"urls": (f"{site.address}/Twitter/",)}),),
            "files": (file.model_copy(update={"sha256": member}),),
            "rows": 10,
            "classes": {"0": 5, "1": 5},
        }
        return entry.model_copy(update=change)

    @staticmethod
    def row(value, label):
        return ",".join([*[str(value)] * 77, label]).encode()

    def serve(self, site, entry):
        """Put the eight files there; each repeats a row of its own, or of the first ones."""
        expected = []
        for number, part in enumerate(entry.downloads[0].parts):
            label = "0.0" if "NonBuzz" in part else "1.0"
            own, old = self.row(number, label), self.row(number % 2, label)
            ends = b"" if number == 3 else b"\r\n" if number == 5 else b"\n"
            path = site.folder / "Twitter" / part
            put(path.parent, path.name, b"\n".join([own, old, own]) + ends)
            expected.append(own)
        extra = [self.row(8, "1.0"), self.row(9, "0.0")]
        put(path.parent, path.name, path.read_bytes() + b"\n".join(extra))
        return b"\n".join([*expected, *extra]) + b"\n"

    def test_lines_of_the_parts_are_joined_in_order_without_duplicates(self, home, site, catalogue):
        whole = self.serve(site, self.entry(site))
        catalogue(self.entry(site, sha256(whole)))
        (path,) = datasets.fetch("buzz-14k")
        assert path == home / "buzz" / "buzz-14k.csv"
        assert path.read_bytes() == whole
        assert [each.name for each in path.parent.iterdir()] == [path.name]
        folders = [each.split("/")[2] for each in site.asked]
        assert folders == [f"{size}000samples" for size in (1, 1, 2, 2, 4, 4, 8, 8)]
        assert ["Non" in each for each in site.asked] == [False, True] * 4
        assert datasets.load("buzz-14k").y.tolist() == [1, 0] * 5

    def test_wrong_or_missing_part_leaves_no_file(self, home, site, catalogue):
        entry = self.entry(site)
        whole = self.serve(site, entry)
        catalogue(self.entry(site, sha256(whole)))
        part = site.folder / "Twitter" / entry.downloads[0].parts[4]
        content = part.read_bytes()
        part.write_bytes(content.replace(b"4,4", b"4,5"))
        with pytest.raises(DataError, match="download failed"):
            datasets.fetch("buzz-14k")
        part.unlink()
        with pytest.raises(DataError, match="answered 404"):
            datasets.fetch("buzz-14k")
        assert not (home / "buzz").exists()
        part.write_bytes(content)
        assert datasets.fetch("buzz-14k")
