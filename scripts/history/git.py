"""The commits of this repository, read with git."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]


class NoHistory(Exception):
    """Git, the repository, or a part of its commits is missing."""


def _output(*arguments: str, given: str = "") -> bytes:
    command = ["git", "-C", str(ROOT), *arguments]
    try:
        done = subprocess.run(command, input=given.encode(), capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoHistory(f"git {arguments[0]} failed: {error}") from error
    return done.stdout


def ask(*arguments: str) -> str:
    """Return the output of git; raises NoHistory if it fails."""
    return _output(*arguments).decode(errors="replace")


def check() -> None:
    """Raise NoHistory unless this is a repository with all of its commits."""
    if not (ROOT / ".git").exists():
        raise NoHistory(f"{ROOT} is not a clone, because .git is missing")
    if ask("rev-parse", "--is-shallow-repository").strip() != "false":
        raise NoHistory("the clone is shallow")


@cache
def parents() -> dict[str, tuple[str, ...]]:
    """Return the parents of every commit, the newest first; the first key is HEAD."""
    lines = (
        line.split() for line in ask("rev-list", "--topo-order", "--parents", "HEAD").split("\n")
    )
    return {line[0]: tuple(line[1:]) for line in lines if line}


@cache
def dates() -> dict[str, str]:
    """Return the day and time of every commit, in UTC."""
    lines = ask("log", "--format=%H %cd", "--date=format-local:%Y-%m-%d %H:%M", "HEAD").splitlines()
    return dict(line.split(" ", 1) for line in lines)


@cache
def ancestors(commit: str) -> frozenset[str]:
    """Return the ancestors of a commit, including itself."""
    seen, waiting = {commit}, [commit]
    while waiting:
        new = [each for each in parents()[waiting.pop()] if each not in seen]
        seen.update(new)
        waiting += new
    return frozenset(seen)


def oldest(commits: Iterable[str]) -> str:
    """Return the oldest commit by date; if dates are equal, the first in the order of parents."""
    position = {commit: place for place, commit in enumerate(reversed(parents()))}
    return min(commits, key=lambda commit: (dates()[commit], position[commit]))


def _read_objects(names: Sequence[str]) -> Iterator[bytes | None]:
    """Yield the content of each object; None if git does not have it."""
    out = _output("cat-file", "--batch", given="".join(f"{name}\n" for name in names))
    place = 0
    for _ in names:
        end = out.index(b"\n", place)
        header = out[place:end].split()
        place = end + 1
        if len(header) == 3:
            place += int(header[2]) + 1
            yield out[end + 1 : place - 1]
        else:
            yield None


def contents(names: Sequence[str]) -> list[str]:
    """Return the contents of files, each given by its hash or as ``commit:path``."""
    texts = []
    for name, content in zip(names, _read_objects(names), strict=True):
        if content is None:
            raise NoHistory(f"git has no {name}")
        texts.append(content.decode(errors="replace"))
    return texts


def list_files(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the files below each folder, given as ``commit:path``: hashes by path.

    Git is called once per level of the folders, because a call per commit takes seconds. A commit
    without the folder has no files.
    """
    folders: dict[str, list[tuple[bool, str, str]]] = {}
    waiting = list(dict.fromkeys(names))
    while waiting:
        for name, content in zip(waiting, _read_objects(waiting), strict=True):
            folders[name] = list(_parse_folder(content or b""))
        below = (entry for name in waiting for entry in folders[name])
        waiting = list({hashed: None for is_folder, _, hashed in below
                        if is_folder and hashed not in folders})  # fmt: skip

    def walk(name: str, above: str) -> Iterator[tuple[str, str]]:
        for is_folder, file, hashed in folders[name]:
            if is_folder:
                yield from walk(hashed, f"{above}{file}/")
            else:
                yield f"{above}{file}", hashed

    return {name: dict(walk(name, f"{name.partition(':')[2]}/")) for name in names}


def _parse_folder(content: bytes) -> Iterator[tuple[bool, str, str]]:
    """Yield the entries of a tree object: whether it is a folder, the name, and the hash."""
    place = 0
    while place < len(content):
        end = content.index(b"\0", place)
        mode, _, name = content[place:end].partition(b" ")
        place = end + 21  # a hash has 20 bytes
        yield mode == b"40000", name.decode(), content[end + 1 : place].hex()


class Tree:
    """The commits that change given paths, with the files of each commit there."""

    def __init__(self, *paths: str) -> None:
        self.paths = paths

    @cached_property
    def commits(self) -> dict[str, tuple[str, ...]]:
        """The commits, the newest first, with their parents in this tree."""
        lines = ask("rev-list", "--topo-order", "--parents", "--full-history", "HEAD", "--",
                    *self.paths).splitlines()  # fmt: skip
        return {line.split()[0]: tuple(line.split()[1:]) for line in lines}

    @cached_property
    def _files(self) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {commit: {} for commit in self.commits}
        for path in self.paths:
            every = list_files([f"{commit}:{path}" for commit in self.commits])
            for commit, files in zip(self.commits, every.values(), strict=True):
                found[commit] |= {k: v for k, v in files.items() if k.endswith(".yaml")}
        return found

    @cached_property
    def _texts(self) -> dict[str, str]:
        blobs = sorted({blob for files in self._files.values() for blob in files.values()})
        return dict(zip(blobs, contents(blobs), strict=True))

    def files(self, commit: str) -> dict[str, str]:
        """Return the texts of a commit's YAML files by name; for "", of the files on disk."""
        if not commit:
            found = (file for path in self.paths for file in (ROOT / path).rglob("*.yaml"))
            return {file.relative_to(ROOT).as_posix(): file.read_text() for file in found}
        return {name: self._texts[blob] for name, blob in self._files[commit].items()}

    def since(self, form: Callable[[str], Hashable], present: Hashable) -> str:
        """Return the commit since which a form has been the present one without interruption.

        If several branches introduced it, the oldest commit is returned. The result is empty if
        HEAD does not have the form yet.

        Parameters
        ----------
        form : callable
            Function that returns the form in a commit.
        present : hashable
            The present form.
        """
        first = next(iter(self.commits), "")
        if not first or form(first) != present:
            return ""
        begun, seen, waiting = [], {first}, [first]
        while waiting:
            commit = waiting.pop()
            same = [each for each in self.commits[commit] if form(each) == present]
            if not same:
                begun.append(commit)
            new = [each for each in same if each not in seen]
            seen.update(new)
            waiting += new
        return oldest(begun)


def order(form: str, rows: str) -> str:
    """Return the order of a form's commit and the commit of the first rows."""
    if not rows:
        return "no rows" if form else "unknown"
    if not form:  # not committed yet
        return "after"
    if form == rows:
        return "same commit"
    if form in ancestors(rows):
        return "before"
    return "after" if rows in ancestors(form) else "unknown"
