"""Measure the maps of a package, the transcribed ones or rfbench's own: `scripts/maps NAME`."""

from __future__ import annotations

import argparse
import datetime
import functools
import pickle
import resource
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from rfbench.checking.bias import Draw, KernelClaim
from rfbench.checking.closed_forms import find_kernel_by_name
from rfbench.checking.page import MAPS_FOLDER, annotate_published_rows, make_map_row, write_map_rows
from rfbench.checking.samplers import make_map_under_test
from rfbench.registry import SAMPLERS
from scripts.foreign import transcribed

HERE, PATCHES = Path(__file__).parent, MAPS_FOLDER / "patches"
SOURCES: dict[str, dict[str, Any]] = yaml.safe_load((HERE / "sources.yaml").read_text())
Rows = list[dict[str, Any]]
# Limits of a package, chosen generously: seconds of a call of pip, seconds of CPU, bytes of
# address space (torch and TensorFlow reserve 10 GB), and bytes of a file that it writes.
PIP_SECONDS = 1200
LIMITS = {
    resource.RLIMIT_CPU: 3600,
    resource.RLIMIT_AS: 24 << 30,
    resource.RLIMIT_FSIZE: 1 << 30,
}


def confine() -> None:
    """Limit the CPU time, the memory and the files of this process."""
    for limit, value in LIMITS.items():
        resource.setrlimit(limit, (value, value))


@functools.cache
def without_network() -> list[str]:
    """Return the words that start a command without a network; empty if that is not possible."""
    words = ["unshare", "--net"]
    if shutil.which("unshare") and subprocess.run([*words, "true"], check=False).returncode == 0:
        return words
    print("The network cannot be taken away here: the map runs with it.")
    return []


@contextmanager
def environment(
    name: str, folder: str | None, patch: bool = False, base: str | None = None
) -> Iterator[Path]:
    """Yield an environment with the pinned packages of a name, or the given existing one.

    With `patch`, the correction of the package is applied to its installed files. With `base`, the
    packages of that environment are used, and only missing packages are installed.
    """
    if folder:
        yield Path(folder)
        return
    with tempfile.TemporaryDirectory() as made:
        python = Path(made, "bin", "python")
        own_pip = ["--without-pip"] if base else []
        subprocess.run([sys.executable, "-m", "venv", *own_pip, made], check=True)
        (site,) = Path(made).glob("lib/python3*/site-packages")
        if base:
            used = [next(Path(each).glob("lib/python3*/site-packages")) for each in base.split(":")]
            (site / "base.pth").write_text("".join(f"{each.resolve()}\n" for each in used))
        for stub in SOURCES[name].get("stubs", ()):
            (site / f"{stub}.py").write_text("def __getattr__(name):\n    return object\n")
        for words in SOURCES[name]["requires"]:
            wheels = [] if "archive" in SOURCES[name] else ["--only-binary", ":all:"]
            pip = [python, "-m", "pip", "install", "-q", "--no-compile", *wheels, *words.split()]
            subprocess.run(pip, check=True, timeout=PIP_SECONDS)
        if patch:
            apply_patch(name, Path(made))
        yield Path(made)


def apply_patch(name: str, made: Path) -> None:
    """Apply the correction of a package to its installed files."""
    (site,) = made.glob("lib/python3*/site-packages")
    diff = (PATCHES / f"{name}.diff").read_bytes()
    subprocess.run(["patch", "-p1", "-d", site], input=diff, check=True)


@contextmanager
def drawing(folder: Path) -> Iterator[Callable[[str, dict[str, Any]], Draw]]:
    """Start the worker in an environment; yield a function that returns draws of `packages`."""
    python = str(folder / "bin" / "python")
    command = [*without_network(), python, str(HERE / "worker.py"), str(HERE / "packages.py")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=confine
    ) as worker:
        assert worker.stdin
        assert worker.stdout

        def of(function: str, options: dict[str, Any]) -> Draw:
            def draw(X: Any, M: int, seed: int) -> Any:
                # lists can be read by any version of numpy
                request = (function, X.tolist(), M, seed, options)
                pickle.dump(request, worker.stdin, protocol=4)
                worker.stdin.flush()
                answer = pickle.load(worker.stdout)
                if isinstance(answer, str):
                    raise RuntimeError(f"{function} with {options}: {answer}")
                return answer

            return draw

        yield of
        worker.stdin.close()


def claim(map_: dict[str, Any], draw: Draw) -> KernelClaim:
    """Return the claim of a map in the sources; its rows are in bandwidths."""
    kernel = find_kernel_by_name(map_["kernel"], 1.0, **map_.get("parameters", {}))
    return KernelClaim(map_.get("option", ""), draw, kernel, tuple(map_.get("sizes", (16, 256))))


def of_package(name: str, folder: str | None, by_size: bool, patch: bool) -> Rows:
    """Measure the maps of a package; with `by_size`, at the numbers of features in that key.

    With `patch`, the package is corrected, and only its maps with a fault are measured.
    """
    rows = []
    with environment(name, folder, patch) as made, drawing(made) as of:
        for each in SOURCES[name]["maps"]:
            if patch and "mend" not in each:
                continue
            draw = of(each["call"], each.get("options", {}))
            claims = [(each, each)]
            if by_size:
                sizes = ({"sizes": (M, 2 * M)} for M in each.get("by_size", ()))
                claims = [(each | size, {"option": each["option"]}) for size in sizes]
            rows += [
                make_map_row(claim(map_, draw), {**facts(name), **known}, each.get("most"))
                for map_, known in claims
            ]
    return rows


def transcriptions() -> Rows:
    """Measure the transcribed maps."""
    rows = []
    for name, source in SOURCES.items():
        if source["how"] == "transcribed":
            for each in source["maps"]:
                draw = getattr(transcribed, each["call"])
                rows.append(make_map_row(claim(each, draw), {**facts(name), **each}))
    return rows


def reads() -> Rows:
    """Return the rows of maps whose code was read but not run."""
    some = [(name, source) for name, source in SOURCES.items() if source["how"] == "read"]
    return [{**facts(name), **each} for name, source in some for each in source["maps"]]


def facts(name: str) -> dict[str, Any]:
    """Return the columns that all maps of a source share."""
    source = SOURCES[name]
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return {"code": name, "how": source["how"], "version": str(source["version"]), "date": today}


def own(most: int | None, first: bool) -> Rows:
    """Measure each sampler of rfbench, including samplers that declare a bias."""
    rows: Rows = []
    for name, cls in SAMPLERS.items():
        for form in cls.declaration.forms:
            kernels = cls.declaration.kernels[: 1 if first else None]
            subject = make_map_under_test(
                cls, form.options, kernels_served=kernels, **form.contract
            )
            option = ", ".join(f"{key}={value}" for key, value in form.options.items())
            known = {"code": name, "option": option, "how": "own", "version": cls.revision}
            if not cls.approximates_kernel or cls.needs_target:
                rows.append({**known, "said": "claims no kernel"})
                continue
            said = "says that it has a bias" if subject.reason_for_no_claims else ""
            for each in subject.list_kernel_claims():
                rows.append(make_map_row(each, {**known, "map": each.name, "said": said}, most))
                print(name, option, each.kernel.name, each.name, rows[-1]["z"], flush=True)
    return rows


def main() -> None:
    """Measure maps, and write the rows; they replace rows with the same name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=["own", "transcribed", "read", "texts", *SOURCES])
    parser.add_argument("--environment", help="folder of an existing environment")
    parser.add_argument("--most", type=int, help="most seeds, of own maps")
    parser.add_argument("--sizes", action="store_true", help="measure several sizes")
    parser.add_argument("--patch", action="store_true", help="correct the package first")
    parser.add_argument("--first", action="store_true", help="only each sampler's first kernel")
    words = parser.parse_args()
    if words.name == "texts":
        annotate_published_rows(MAPS_FOLDER / "others.csv", SOURCES)
        return
    made = {
        "own": lambda: own(words.most, words.first),
        "transcribed": transcriptions,
        "read": reads,
    }
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        name = words.name
        if name in made:
            rows = made[name]()
        else:
            rows = of_package(name, words.environment, words.sizes, words.patch)
    file = "own" if name == "own" else "by_size" if words.sizes else "others"
    file = "patched" if words.patch else file
    write_map_rows(MAPS_FOLDER / f"{file}.csv", rows)
    for row in rows:
        print({key: row.get(key) for key in ("code", "option", "kernel", "bias", "z", "cause")})


if __name__ == "__main__":
    main()
