"""Where the numbers of a page come from: folders, rows, seconds, machines, commands."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

from rfbench import config, shipped, yamlfile
from rfbench.analysis.faults import wall_over_cpu
from rfbench.report.formats import MARKDOWN, Grid, markdown_table
from rfbench.results import Results

MEASURED_TIMES = ["t_pp", "t_features", "t_train", "t_test"]


def link(target: Path, out: Path, name: str = "") -> str:
    """Write a Markdown link to a file or folder, relative to the folder of the page."""
    relative = Path(os.path.relpath(target.resolve(), out.resolve())).as_posix()
    return f"[{name or target.resolve().name}]({quote(relative)})"


def links(folders: Iterable[Path], out: Path) -> str:
    """Write links to folders, sorted."""
    return ", ".join(link(folder, out) for folder in sorted(set(folders)))


def seconds(results: Results) -> float:
    """Sum the measured wall times of all rows: drawing, features, fit and test, in seconds."""
    return float(results.rows[MEASURED_TIMES].sum().sum())


def spoken_time(time: float) -> str:
    """Write seconds with the unit that suits them: ``42.0 s``, ``3.4 h``."""
    if time < 120:
        return f"{time:.3g} s"
    return f"{time / 60:.1f} min" if time < 7200 else f"{time / 3600:.1f} h"


def repeat(every: Sequence[Results], paths: Sequence[Path], out: Path, left_out: list[str]) -> str:
    """Write how to repeat the results: commands, total time, machines, and every folder.

    Parameters
    ----------
    every : sequence of Results
        The results that could be read.
    paths : sequence of Path
        Where they were looked for.
    out : Path
        The folder of the page.
    left_out : list of str
        What was left out, in sentences.
    """
    rows = sum(len(results.rows) for results in every)
    total = sum(map(seconds, every))
    given = " ".join(_relative(path) for path in paths)
    blocks = [
        "## How to repeat it",
        "\n".join(
            [
                f"    rfbench run configs/*.yaml --offline --out {_relative(paths[0])}",
                f"    rfbench verify {given}",
                f"    rfbench report {given} --out {_relative(out)}",
            ]
        ),
        "The first one runs what is missing of every configuration whose data are on the machine "
        "(`rfbench data fetch NAME` gets more); one folder alone is `rfbench run configs/FILE.yaml "
        "--run FOLDER`.",
        f"The {rows} rows of the {len(every)} folders below took {spoken_time(total)} of measured "
        "time: the sum of t_pp, t_features, t_train and t_test of every row. Reading data, "
        "choosing bandwidths and kernel errors are not in it; under shared timing every size is "
        "charged the shared work in full, so there it is an upper bound.",
        "Where wall / CPU is well above 1, the machine was busy with other work and wall times are "
        "too long; verdicts on times are taken from CPU times.",
        _machines(every),
        markdown_table(_folders(every, out)),
    ]
    if unfinished := [results.name for results in every if _missing(results) > 0]:
        blocks.append(
            f"Fewer rows than planned, so not finished or run with fewer trials: "
            f"{', '.join(unfinished)}."
        )
    if left_out:
        blocks += [
            "Left out or noted while reading:",
            "\n".join(f"- {note.translate(MARKDOWN)}" for note in left_out),
        ]
    return "\n\n".join(blocks)


def _missing(results: Results) -> int:
    """Count the planned trials without a row; 0 where the plan is not known."""
    planned = results.manifest.get("trials")
    return len(set(planned) - set(results.rows["trial_id"])) if isinstance(planned, list) else 0


def _relative(path: Path) -> str:
    return Path(os.path.relpath(path)).as_posix()


def _machines(every: Sequence[Results]) -> str:
    """Say what the manifests say of machines and versions, with the number of folders of each."""
    count: dict[str, int] = {}
    for results in every:
        said = _machine(results)
        count[said] = count.get(said, 0) + 1
    lines = [
        f"- {said} ({n} {'folder' if n == 1 else 'folders'})" for said, n in sorted(count.items())
    ]
    return "\n".join(["Measured on, as the manifests say:", "", *lines])


def _machine(results: Results) -> str:
    machine, versions = results.manifest.get("machine"), results.manifest.get("versions")
    if not isinstance(machine, dict) or not isinstance(versions, dict):
        return "a machine that no manifest describes"
    blas = sorted({f"{b.get('library')} {b.get('version')}" for b in machine.get("blas") or []})
    told = [f"{name} {versions[name]}" for name in ("python", "numpy", "scipy") if name in versions]
    return ", ".join(
        [
            f"{machine.get('cpu')}, {machine.get('cores')} cores, {machine.get('memory_gib')} GiB",
            str(machine.get("system")),
            *told,
            *blas,
        ]
    )


def _folders(every: Sequence[Results], out: Path) -> Grid:
    """List the folders: what they are for, their rows, and what the rows took."""
    known = {name: run for path in shipped.every() for name, run in config.documents(path).items()}
    head = ["paper, item", "protocol", "rows", "planned", "did not end well", "time"]
    head += ["wall / CPU", "remark"]
    lines = []
    for results in every:
        rows = results.rows
        planned = results.manifest.get("trials")
        paper, item = (str(results.config.get(name) or "") for name in ("paper", "item"))
        remarks = ["SMOKE RUN"] * results.smoke
        run = known.get(results.folder.resolve().name)
        remarks += _other_trials(results, run) if run else ["not of configs/"]
        cells = [
            " ".join(filter(None, [paper, item])) or "own",
            ", ".join(dict.fromkeys(rows["protocol"])),
            str(len(rows)),
            str(len(planned)) if isinstance(planned, list) else "unknown",
            str(int((rows["status"] != "ok").sum())),
            spoken_time(seconds(results)),
            f"{wall_over_cpu(rows):.2f}",
            ", ".join(remarks),
        ]
        lines.append((link(results.folder, out), cells))
    return Grid("folder", head, lines)


def _other_trials(results: Results, run: yamlfile.Document) -> list[str]:
    """Say with which option the configuration was run, where its own number of trials differs."""
    trials = results.config.get("trials")
    own = run.value.get("trials", trials)
    return [] if trials in (None, own) else [f"run with --trials {trials}"]
