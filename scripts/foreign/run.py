"""Measure the maps of a package, the transcribed ones or rfbench's own: `scripts/maps NAME`."""

from __future__ import annotations

import argparse
import datetime
import pickle
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

from rfbench.checking.bias import Draw, MapClaim
from rfbench.checking.closed_forms import find_kernel
from rfbench.checking.page import MAPS_FOLDER, make_row, write
from rfbench.checking.samplers import make_subject
from rfbench.registry import SAMPLERS
from scripts.foreign import transcribed

HERE = Path(__file__).parent
SOURCES: dict[str, dict[str, Any]] = yaml.safe_load((HERE / "sources.yaml").read_text())
Rows = list[dict[str, Any]]


@contextmanager
def environment(name: str, folder: str | None) -> Iterator[Path]:
    """Yield an environment with the pinned packages of a name, or the given existing one."""
    if folder:
        yield Path(folder)
        return
    with tempfile.TemporaryDirectory() as made:
        python = Path(made, "bin", "python")
        subprocess.run([sys.executable, "-m", "venv", made], check=True)
        for words in SOURCES[name]["requires"]:
            subprocess.run([python, "-m", "pip", "install", "-q", *words.split()], check=True)
        yield Path(made)


@contextmanager
def drawing(folder: Path) -> Iterator[Callable[[str, dict[str, Any]], Draw]]:
    """Start the worker in an environment; yield a function that returns draws of `packages`."""
    command = [folder / "bin" / "python", HERE / "worker.py", HERE / "packages.py"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker:
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


def claim(map_: dict[str, Any], draw: Draw) -> MapClaim:
    """Return the claim of a map in the sources; its rows are in bandwidths."""
    kernel = find_kernel(map_["kernel"], 1.0, **map_.get("parameters", {}))
    return MapClaim(map_.get("option", ""), draw, kernel, tuple(map_.get("sizes", (16, 256))))


def of_package(name: str, folder: str | None, by_size: bool) -> Rows:
    """Measure the maps of a package; with `by_size`, at the numbers of features in that key."""
    rows = []
    with environment(name, folder) as made, drawing(made) as of:
        for each in SOURCES[name]["maps"]:
            draw = of(each["call"], each.get("options", {}))
            claims = [(each, each)]
            if by_size:
                sizes = ({"sizes": (M, 2 * M)} for M in each.get("by_size", ()))
                claims = [(each | size, {"option": each["option"]}) for size in sizes]
            rows += [
                make_row(claim(map_, draw), {**facts(name), **known}) for map_, known in claims
            ]
    return rows


def transcriptions() -> Rows:
    """Measure the transcribed maps."""
    rows = []
    for name, source in SOURCES.items():
        if source["how"] == "transcribed":
            for each in source["maps"]:
                draw = getattr(transcribed, each["call"])
                rows.append(make_row(claim(each, draw), {**facts(name), **each}))
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
            subject = make_subject(cls, form.options, kernels_served=kernels, **form.contract)
            option = ", ".join(f"{key}={value}" for key, value in form.options.items())
            known = {"code": name, "option": option, "how": "own", "version": cls.revision}
            if not cls.approximates_kernel or cls.needs_target:
                rows.append({**known, "said": "claims no kernel"})
                continue
            said = "says that it has a bias" if subject.claims_none else ""
            for each in subject.claims():
                rows.append(make_row(each, {**known, "map": each.name, "said": said}, most))
                print(name, option, each.kernel.name, each.name, rows[-1]["z"], flush=True)
    return rows


def main() -> None:
    """Measure maps, and write the rows; they replace rows with the same name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=["own", "transcribed", "read", *SOURCES])
    parser.add_argument("--environment", help="folder of an existing environment")
    parser.add_argument("--most", type=int, help="most seeds, of own maps")
    parser.add_argument("--sizes", action="store_true", help="measure several sizes")
    parser.add_argument("--first", action="store_true", help="only each sampler's first kernel")
    words = parser.parse_args()
    made = {
        "own": lambda: own(words.most, words.first),
        "transcribed": transcriptions,
        "read": reads,
    }
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        name = words.name
        rows = made[name]() if name in made else of_package(name, words.environment, words.sizes)
    file = "own" if name == "own" else "by_size" if words.sizes else "others"
    write(MAPS_FOLDER / f"{file}.csv", rows)
    for row in rows:
        print({key: row.get(key) for key in ("code", "option", "kernel", "bias", "z", "cause")})


if __name__ == "__main__":
    main()
