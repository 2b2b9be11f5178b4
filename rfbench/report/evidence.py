"""The measurements that bear on a paper: its items, data sets, protocols, methods and sizes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rfbench import papers
from rfbench.analysis import frame
from rfbench.analysis.frame import estimates_kernel, follows
from rfbench.analysis.selection import Selection
from rfbench.config import SHARED, keeps_published_split
from rfbench.errors import ResultsError
from rfbench.report.arms import Arm, Table
from rfbench.report.geometry import SHARES, kept_shares
from rfbench.results import Results
from rfbench.results import reader as folders
from rfbench.results.schema import NUMERIC

JOINT = "joint"
KERNEL_ERRORS = ("kernel_error_spectral", "kernel_error_frobenius")
ROWS_TOLERANCE = 0.02


@dataclass
class Evidence:
    """Every arm of the results that say which paper they belong to.

    Attributes
    ----------
    arms : dict
        By paper and item.
    notes : list of str
        What was left out, and why.
    """

    arms: dict[tuple[str, str], list[Arm]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    results: list[Results] = field(default_factory=list)
    _sorted: dict[tuple[str, str], tuple[int, dict[tuple[str, str], list[Arm]]]] = field(
        default_factory=dict, repr=False
    )

    @cached_property
    def selection(self) -> Selection:
        """The same results as one frame."""
        return Selection(frame.of(self.results))

    def protocols(self, paper: str, items: Iterable[str]) -> list[str]:
        """List the protocols under which any of the items was run."""
        seen = {arm.protocol for item in items for arm in self.arms.get((paper, item), [])}
        usual = [protocol for protocol in papers.PROTOCOLS if protocol in seen]
        return [*usual, *sorted(seen - set(usual))]

    def select(
        self, paper: str, items: Sequence[str], dataset: str, protocol: str, stand_in: bool = False
    ) -> list[Arm]:
        """Return the arms on a data set of a paper, by the name that the paper gives it.

        Parameters
        ----------
        stand_in : bool
            Return those on a subset or replacement of it instead.
        """
        source = papers.sources()[paper].get(dataset)
        if source is None:
            return []
        once: dict[int, Arm] = {}
        for item in items:
            places = self._places(paper, item)
            for name in (source.dataset, *source.stand_ins):
                for arm in places.get((protocol, name), []):
                    if standing(source, item, arm) == stand_in:
                        once[id(arm)] = arm
        return list(once.values())

    def _places(self, paper: str, item: str) -> dict[tuple[str, str], list[Arm]]:
        """Sort the arms of an item by protocol and data set, once they are all there."""
        arms = self.arms.get((paper, item), [])
        count, places = self._sorted.get((paper, item), (-1, {}))
        if count != len(arms):
            places = {}
            for arm in arms:
                key = (arm.protocol, split_name(arm.dataset)[0])
                places.setdefault(key, []).append(arm)
            self._sorted[paper, item] = (len(arms), places)
        return places


def standing(source: papers.Source, item: str, arm: Arm) -> bool | None:
    """Say whether an arm is on a stand-in (True), on the paper's data (False), or neither (None).

    A subset has a name of its own or ``[N rows]`` behind it (but for data sets that the paper
    itself sampled), or other numbers of training and test rows than the paper (by more than 2 %).
    """
    name, rows = split_name(arm.dataset)
    if name in source.stand_ins:
        return True
    if name != source.dataset:
        return None
    if "all" in source.rows:
        return rows not in (source.rows["all"], None)
    if rows is not None:
        return True
    expected = (source.rows.get(item, source.n_train), source.n_test)
    for seen, number in zip(arm.rows, expected, strict=True):
        if number and abs(seen / number - 1) > ROWS_TOLERANCE:
            return True
    return False


def split_name(dataset: str) -> tuple[str, int | None]:
    """Split ``'a9a[5000 rows]'`` into name and number of rows."""
    found = re.fullmatch(r"(.*)\[(\d+) rows\]", dataset)
    return (found[1], int(found[2])) if found else (dataset, None)


def of_method(arms: Sequence[Arm], method: str) -> list[Arm]:
    """Return the arms of a published method.

    In each experiment these are the ones with that label; else those of the sampler, where only
    one label has it. Features under the joint solver are the method ``joint``, and no other.
    """
    if method == JOINT:
        return [arm for arm in arms if JOINT in (arm.method, arm.solver)]
    others = [arm for arm in arms if arm.solver != JOINT]
    found: list[Arm] = []
    for experiment in dict.fromkeys(arm.experiment for arm in others):
        here = [arm for arm in others if arm.experiment == experiment]
        exact = [arm for arm in here if arm.method == method]
        same = [arm for arm in here if arm.sampler == method]
        found += exact or (same if len({arm.method for arm in same}) == 1 else [])
    return found


def gather(paths: Iterable[str | Path]) -> Evidence:
    """Read every results folder at or below the paths; one that is broken is left out, and noted.

    Raises
    ------
    ResultsError
        If a path is not there. That nothing lies below it is no error: nothing was run.
    """
    evidence = Evidence()
    for one in readable(paths, evidence.notes):
        add(evidence, one)
    return evidence


def readable(paths: Iterable[str | Path], notes: list[str]) -> Iterator[Results]:
    """Read every results folder at or below the paths; `notes` takes up what is left out.

    Raises
    ------
    ResultsError
        If a path is not there.
    """
    for path in map(Path, paths):
        if path.is_dir() and next(path.rglob(folders.TRIALS), None) is None:
            notes.append(f"{path} holds no results.")
            continue
        for folder in folders.find([path]):
            try:
                yield folders.read(folder)
            except ResultsError as error:
                notes.append(f"{folder} is left out: {error.what} {error.why}".strip())


def add(evidence: Evidence, results: Results) -> None:
    """Add the arms of one results folder; what does not count is noted."""
    paper, items = str(results.config.get("paper") or ""), str(results.config.get("item") or "")
    evidence.results.append(results)
    if not paper:
        return
    if results.smoke:
        evidence.notes.append(f"{results.name} is left out: it is a smoke run.")
        return
    rows = results.rows
    evidence.notes += [f"{results.name}: {note}" for note in results.notes]
    if swept := int((rows["variant"] != "").sum()):
        evidence.notes.append(f"{results.name}: {swept} rows of a sweep are left out.")
    arms = arms_of(results, rows[rows["variant"] == ""].reset_index(drop=True), evidence.notes)
    for item in re.split(r"[,;\s]+", items.strip()):
        evidence.arms.setdefault((paper, item), []).extend(arms)


def arms_of(results: Results, rows: pd.DataFrame, notes: list[str]) -> list[Arm]:
    """Return the arms of some rows of the results; the notes grow by what is wrong with them.

    Kernel errors of features that are not meant to estimate the kernel are none.
    """
    numbers = {name: _floats(rows[name]) for name in NUMERIC}
    meant = rows["parameters"].map(estimates_kernel).to_numpy(dtype=bool)
    numbers |= {name: np.where(meant, numbers[name], np.nan) for name in KERNEL_ERRORS}
    shares = kept_shares(results.folder, rows, notes)
    numbers |= {name: _floats(shares[name]) for name in SHARES}
    keys = rows[["trial", "seed", "data_hash", "split", "n_train"]].astype("str")
    table = Table(numbers, list(keys.itertuples(index=False, name=None)))
    return list(_arms(results, rows, table))


def _draws_test_rows(split: str, dataset: str, n_train: float) -> bool:
    """Say whether every trial draws the test rows from the same rows anew.

    `rows:` draws a subset of both sides, of the published split as well, unless it asks for more
    than there are: then all train, fewer than asked for.
    """
    subset = split_name(dataset)[1]
    if subset is not None and not n_train < subset:
        return True
    try:
        return not keeps_published_split(json.loads(split) if split.startswith("{") else split)
    except ValueError:
        return True


def _floats(values: pd.Series[Any]) -> NDArray[np.float64]:
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def _arms(results: Results, rows: pd.DataFrame, table: Table) -> Iterable[Arm]:
    by = ["dataset", "protocol", "label", "sampler", "solver", "d"]
    by += [] if follows(results) else ["M"]
    places: dict[tuple[Any, ...], list[int]] = {}
    for i, key in enumerate(rows[by].astype("object").itertuples(index=False, name=None)):
        places.setdefault(tuple(None if pd.isna(k) else k for k in key), []).append(i)
    ok = (rows["status"] == "ok").to_numpy()
    facts = zip(rows["split"], rows["dataset"], table.numbers["n_train"], strict=True)
    anew = np.array([_draws_test_rows(*of) for of in facts], dtype=bool)
    shared = (rows["timing"] == SHARED).to_numpy()
    trials = rows["trial"].to_numpy(dtype=np.int64, na_value=-1)
    for (dataset, protocol, label, sampler, solver, d, *size), found in places.items():
        last = {trials[i]: i for i in found if ok[i]}
        yield Arm(
            experiment=results.name,
            folder=results.folder,
            dataset=str(dataset),
            protocol=str(protocol),
            method=str(label),
            sampler=str(sampler),
            solver=str(solver),
            M=int(size[0]) if size and size[0] is not None else None,
            d=None if d is None else int(d),
            split_anew=bool(anew[found].any()),
            metric=results.config.get("metric"),
            table=table,
            index=np.array(list(last.values()), dtype=np.intp),
            failed=sum(not ok[i] for i in found),
            shared=bool(shared[found].any()),
        )
