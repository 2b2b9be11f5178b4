"""The files of a data set: their locations on disk, their hashes, and their download.

The library pooch performs the downloads.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from rfbench import files
from rfbench._version import __version__
from rfbench.datasets import archives, cache, catalog
from rfbench.datasets.archives import FoundFiles
from rfbench.datasets.catalog import Download, Entry, Member
from rfbench.errors import DataError, ResultsError

log = logging.getLogger(__name__)

RETRIES = 2
"""Number of retries of a download from one address, after 1 and 2 seconds.

The value was chosen without a measurement. With twice this value, an unreachable address needs 15
seconds instead of 3.
"""
SILENCE = 30
"""Time in seconds after which a server that does not answer counts as unreachable.

The value was chosen without a measurement. With twice this value, an unreachable address needs 90
seconds more.
"""
LEAST_BYTES, LEAST_SECONDS = 60_000, 60.0
"""A download is aborted if fewer than LEAST_BYTES arrive in LEAST_SECONDS (1 kB/s).

The values were chosen without a measurement. If the speed is halved, the download of the largest
file of the catalog may take months.
"""
# CHUNK is the number of bytes per read. CHECK_SECONDS is the time between two checks of the speed
# of a download. The values were chosen without a measurement. With twice CHECK_SECONDS, a stalled
# download is stopped one second later.
CHUNK = 1 << 16
CHECK_SECONDS = 1.0


@dataclass(frozen=True)
class FileCheck:
    """Result of comparing the hash of one file of a data set with the catalog.

    Parameters
    ----------
    member : Member
        The file, as listed in the catalog.
    source : FoundFiles or None
        Location of the file on disk. None if the file is missing.
    status : {'ok', 'unpinned', 'mismatch', 'missing'}
        'ok': the hash agrees with the catalog. 'unpinned': the catalog has no hash of the file.
        'mismatch': the hash differs, or the file cannot be read. 'missing': the file does not
        exist.
    sha256 : str or None, default=None
        Hash of the content of the file.
    expected : str or None, default=None
        Hash of the file in the catalog.
    problem : str, default=''
        Reason why the file cannot be read.
    """

    member: Member
    source: FoundFiles | None
    status: Literal["ok", "unpinned", "mismatch", "missing"]
    sha256: str | None = None
    expected: str | None = None
    problem: str = ""


def find_data_folder() -> Path:
    """Return the folder for downloaded data.

    Returns
    -------
    Path
        `./data` if it exists, else `data` in a checkout of the source code, else the user's cache
        folder.
    """
    here = Path.cwd() / "data"
    if here.is_dir():
        return here
    checkout = Path(__file__).parents[2]
    in_checkout = (checkout / "pyproject.toml").is_file()
    return checkout / "data" if in_checkout else cache.find_user_folder()


def locate_files(entry: Entry) -> list[FoundFiles | None]:
    """Return the location of each file of a catalog entry, or None for a file that is not found.

    The folder in the environment variable RFBENCH_DATA is searched first, then the folder for
    downloaded data. Raise DataError if RFBENCH_DATA is not a folder.
    """
    given = os.environ.get("RFBENCH_DATA")
    if given and not Path(given).is_dir():
        raise DataError(
            f"The environment variable RFBENCH_DATA names {given}, which is not a folder.",
            "rfbench looks for data sets in this folder first.",
            "Correct the variable, or unset it.",
        )
    folders = [
        folder / entry.folder for folder in ([Path(given)] if given else []) + [find_data_folder()]
    ]
    return [
        next(filter(None, (_in_folder(folder, member) for folder in folders)), None)
        for member in entry.files
    ]


def _in_folder(folder: Path, member: Member) -> FoundFiles | None:
    """Return the location in `folder` of a file of a data set, or None if the file is not found.

    The file may be plain, compressed, or inside an archive that was downloaded.
    """
    loose = sorted(path for path in folder.glob(member.name) if path.is_file())
    if len(loose) == member.count:
        return FoundFiles(tuple(loose), member.name, member.count)
    names = [f"{member.name}{end}" for end in (".gz", ".bz2", ".xz")] + [member.source or ""]
    packed = (folder / name for name in names if (folder / name).is_file())
    return next((FoundFiles((path,), member.pattern, member.count) for path in packed), None)


def is_on_disk(name: str) -> bool:
    """Return True if every file of a data set is on disk. The content is not checked.

    Parameters
    ----------
    name : str
        Name of the data set, as printed by ``rfbench data list``.

    Returns
    -------
    bool
        True if no file is missing.
    """
    return None not in locate_files(catalog.find_entry(name))


def verify(name: str) -> list[FileCheck]:
    """Compare the hash of every file of a data set with the hash in the catalog.

    Parameters
    ----------
    name : str
        Name of the data set, as printed by ``rfbench data list``.

    Returns
    -------
    list of FileCheck
        One result per file.
    """
    entry = catalog.find_entry(name)
    return [
        check_file_hash(entry, member, source)
        if source
        else FileCheck(member, None, "missing", expected=member.sha256)
        for member, source in zip(entry.files, locate_files(entry), strict=True)
    ]


def check_file_hash(entry: Entry, member: Member, source: FoundFiles) -> FileCheck:
    """Compare the hash of one file with the hash in the catalog, and return the result.

    If the file is in a downloaded archive, the hash of the whole archive may match instead.
    """
    path, download = source.paths[0], entry.find_download(member)
    archive: tuple[str, ...] = ()
    if download and download.sha256 and download.name == path.name:
        archive = (download.sha256, *download.also)
    expected = member.sha256 or next(iter(archive), None)
    try:
        content = cache.hash_content(source)
    except DataError as error:
        why = f"{error.what} {error.why}"
        return FileCheck(member, source, "mismatch", None, expected, why)
    packed = cache.hash_file(path) if archive else ""
    if content in (member.sha256, *member.also) or packed in archive:
        return FileCheck(member, source, "ok", content, content)
    seen = packed if archive and not member.sha256 else content
    return FileCheck(member, source, "mismatch" if expected else "unpinned", seen, expected)


def check_entry_files(entry: Entry) -> list[FileCheck]:
    """Compare the hashes of the files of a data set with the catalog.

    The list contains one result per file. Raise DataError if a file is missing, or if its hash
    differs.
    """
    checks = verify(entry.name)
    for each in checks:
        if each.status == "missing":
            raise _missing(entry, each.member)
        _refuse_mismatch(entry, each)
    return checks


def _refuse_mismatch(entry: Entry, checked: FileCheck) -> None:
    if checked.source and checked.status == "mismatch":
        raise DataError(
            f"{checked.source.paths[0]} is not the expected '{checked.member.name}' of "
            f"{entry.name}.",
            checked.problem
            or (
                f"The sha256 of the file is {checked.sha256}, but the expected sha256 is "
                f"{checked.expected}."
            ),
            f"Remove the file and run `rfbench data fetch {entry.name}`.",
        )


def _missing(
    entry: Entry, member: Member, why: str = "The file was not found on disk."
) -> DataError:
    """Return the error for a missing file of a data set.

    The message contains the reason `why`, the web address of the file, and the folder for the file.
    """
    download = entry.find_download(member)
    urls = " or ".join(download.urls) if download else ""
    return DataError(
        f"'{member.source or member.name}' of {entry.name} is missing.",
        why,
        f"{f'Download it from {urls} and' if urls else 'It cannot be downloaded:'} "
        f"copy it to the folder {find_data_folder() / entry.folder}, with its own name.",
    )


def fetch(name: str, *, progress: bool = False) -> list[Path]:
    """Download the missing files of a data set. Check all files and return their paths.

    Parameters
    ----------
    name : str
        Name of the data set, as printed by ``rfbench data list``.
    progress : bool
        Show a progress bar.

    Returns
    -------
    list of Path
        Paths of all files of the data set.

    Raises
    ------
    DataError
        If a file cannot be downloaded, or has the wrong content.
    """
    sources = [
        each.source for each in ensure_downloaded(catalog.find_entry(name), progress=progress)
    ]
    return list(dict.fromkeys(path for source in sources if source for path in source.paths))


def ensure_downloaded(entry: Entry, *, progress: bool = False) -> list[FileCheck]:
    """Download the missing files of a catalog entry, and check the hashes of all its files.

    The result contains one `FileCheck` per file.
    """
    done: set[str | None] = set()
    for member, source in zip(entry.files, locate_files(entry), strict=True):
        if source is None and member.source not in done:
            _download(entry, member, progress)
            done.add(member.source)
    return check_entry_files(entry)


def _download(entry: Entry, member: Member, progress: bool) -> None:
    """Download the file or archive that contains `member`, from the first web address that works.

    Raise DataError if the download fails for all addresses.
    """
    download = entry.find_download(member)
    if download is None or not download.urls:
        raise _missing(entry, member)
    folder = find_data_folder() / entry.folder
    reasons = []
    for url in download.urls:
        try:
            with files.make_scratch_folder(folder, ".part-") as stage:
                path = stage / download.name
                _download_or_assemble(download, url, path, progress)
                source = FoundFiles((path,), member.pattern, member.count)
                _refuse_mismatch(entry, check_file_hash(entry, member, source))
                files.move(path, folder / download.name)
            return
        except (OSError, ValueError, DataError, ResultsError) as error:
            log.info("%s from %s: %s", download.name, url, error)
            reasons.append(f"{url}: {_reason(error)}")
            files.remove_empty_folder(folder)
    raise _missing(entry, member, f"The download failed ({'; '.join(reasons)}).")


def _download_or_assemble(download: Download, url: str, path: Path, progress: bool) -> None:
    """Download the file that `download` describes from the address `url`, and write it to `path`.

    If the file is published in several parts, write the distinct lines of all parts, in order.
    """
    if not download.parts:
        return _copy(url, path, progress)
    lines: dict[bytes, None] = {}
    for part in download.parts:
        piece = path.with_name(Path(part).name)
        _copy(url + part, piece, progress)
        lines |= dict.fromkeys(piece.read_bytes().splitlines())
    files.replace(path, b"".join(line + b"\n" for line in lines))


def _reason(error: Exception) -> str:
    """Return a short reason for a failed download, such as the status code of the server."""
    from requests import RequestException

    if not isinstance(error, RequestException):
        return str(error)
    code = getattr(error.response, "status_code", None)
    return f"the server answered {code}" if code else type(error).__name__


def _copy(url: str, path: Path, progress: bool) -> None:
    """Download a file. After a connection error or a server error, try again.

    The waiting time doubles with each attempt.
    """
    import pooch
    from requests import RequestException
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    # Set a user agent, because some servers reject the user agent of Python. Request the encoding
    # `identity`, because some servers would otherwise compress the file.
    headers = {"User-Agent": f"rfbench/{__version__}", "Accept-Encoding": "identity"}
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn()
    for attempt in range(1 + RETRIES):
        bar = Progress(*columns, console=Console(stderr=True), disable=not progress)
        meter = _Meter(bar, bar.add_task(path.name, total=None))
        carrier = pooch.HTTPDownloader(
            meter, CHUNK, timeout=SILENCE, headers=headers, hooks={"response": meter.watch}
        )
        try:
            with bar:
                _carry(partial(carrier, url, str(path), None), meter)
            return
        except RequestException as error:
            code = getattr(error.response, "status_code", 500)
            if attempt == RETRIES or code < 500:
                raise
            time.sleep(2**attempt)


def _carry(download: Callable[[], None], meter: _Meter) -> None:
    """Run `download` in a thread, and abort it if it is too slow or if the user presses Ctrl-C.

    In a thread, the speed can be measured while the server sends the header of its response. The
    thread of an aborted download ends when the next byte arrives, when the connection is closed, or
    when the process ends.
    """
    results: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()

    def work() -> None:
        raised = None
        try:
            download()
        except BaseException as error:
            raised = error
        meter.end()
        results.put(raised)

    threading.Thread(target=work, daemon=True).start()
    try:
        while True:
            try:
                raised = results.get(timeout=min(CHECK_SECONDS, LEAST_SECONDS))
                break
            except queue.Empty:
                meter.check_speed()
    except BaseException:
        meter.given_up = True
        raise
    if raised is not None:
        raise raised


@dataclass
class _Meter:
    """Count the bytes of a download, update a progress bar, and abort large or slow downloads.

    The bytes are counted as soon as they arrive. The library pooch would count only complete
    chunks, and a slow server may need hours for a chunk.
    """

    bar: Any
    task: Any
    total: int = 0  # size of the file in bytes as announced by the server, or 0
    done: int = 0
    clock: Callable[[], float] = time.monotonic
    given_up: bool = False
    _responses: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        # time of the last measurement of the speed, and the number of bytes that had arrived at
        # that time
        self._since = self.clock(), 0

    def watch(self, response: Any, *words: Any, **keywords: Any) -> None:
        """Change an HTTP response, so that the bytes of its body are counted on arrival."""
        raw = response.raw
        whole = raw.stream
        # Count from 0 again, because each response after a redirection has its own body.
        self.done, self._since = 0, (self.clock(), 0)

        def stream(amount: int, decode_content: bool = True) -> Iterator[bytes]:
            if hasattr(raw, "read1"):
                pieces = iter(lambda: raw.read1(amount, decode_content=decode_content), b"")
            else:  # urllib3 before version 2.1
                pieces = whole(amount, decode_content=decode_content)
            for piece in pieces:
                self.count(len(piece))
                yield piece

        raw.stream = stream
        self._responses.append(response)

    def end(self) -> None:
        """Close all connections of the download."""
        for response in self._responses:
            # Delete the attribute `stream`. It is a function that refers to the response, so the
            # response could otherwise not be removed from memory.
            del response.raw.stream
            response.close()
            response.raw.close()
        self._responses.clear()

    def count(self, n: int) -> None:
        """Add `n` to the number of bytes that have arrived, and update the progress bar.

        Raise DataError if the file is too large, and TimeoutError if the download was aborted.
        """
        if self.given_up:
            raise TimeoutError
        self.done += n
        if max(self.done, self.total) > archives.MAX_MEMBER_BYTES:
            raise archives.make_size_limit_error("The download")
        self.bar.update(self.task, completed=self.done, total=self.total or None)

    def check_speed(self) -> None:
        """Raise TimeoutError if too few bytes arrived in the last minute."""
        (before, had), now = self._since, self.clock()
        if now - before >= LEAST_SECONDS:
            if self.done - had < LEAST_BYTES:
                raise TimeoutError(
                    f"the server is too slow: {self.done - had} bytes in {now - before:.0f} s"
                )
            self._since = now, self.done

    def update(self, n: int) -> None:
        """Do nothing, because `count` counts the bytes. pooch calls this method after a chunk."""

    def reset(self) -> None:
        """Do nothing. The library pooch requires this method."""

    def close(self) -> None:
        pass
