"""The acceptance walk: install rfbench, and use it outside of the checkout as a new user does.

    scripts/acceptance                  # all steps, about ten minutes on two cores
    scripts/acceptance --keep           # keeps the folder, and prints its name
    scripts/acceptance --torch          # also installs torch, several hundred megabytes or more

The walk builds the source archive and the wheel in isolated builds, installs the wheel into a
fresh environment, and runs commands in an empty folder. It runs every command of README.md, which
it reads from that file. `REPLACED` lists the commands that it runs with less work or differently,
each with the reason. The script uses the standard library alone, because it runs before anything is
installed.

Exit codes: 0 if all steps passed, 1 if a step failed, 3 if the package index cannot be reached.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOT_RUN = 3
COMMAND = re.compile(r"^    ((?:rfbench|scripts/|python|source) ?.*?)(?:  +#.*)?$", re.MULTILINE)

# Commands of README.md that the walk replaces: command, replacement, reason. A command with an
# empty replacement is not run.
REPLACED = {
    "scripts/quickstart": ("", "continuous integration runs it"),
    "source .venv/bin/activate": ("", "the walk has its own environment"),
    "rfbench run eerf2018_table3 --run adult.matched": (
        "rfbench run eerf2018_table3 --run adult.matched --offline --smoke",
        "one trial per method",
    ),
    "rfbench verify results/published --claim L2": (
        "rfbench verify {root}/results/published --claim L2",
        "published rows are in the repository",
    ),
    "rfbench choose flats.csv --target price --budget 60s": (
        "rfbench choose flats.csv --target price --budget 20s",
        "less time",
    ),
    "rfbench rank mine.py:Antithetic --allow-imports": (
        "rfbench rank mine.py:Antithetic --tables quick --M 50 --allow-imports",
        "fewer tables and features",
    ),
}
NEEDS_DATA = ("rfbench run eerf2018_table3", "rfbench rank")
DATA_VARIABLE = "RFBENCH_DATA"
MISSING_DATA = "rfbench data fetch"  # the advice in the message of a missing data set

TYPED = """\
from rfbench.samplers import RKS
sampler = RKS(50, bandwidth=2.0)
reveal_type(sampler.bandwidth)
"""


# The same map as a function, as a transformer and as an object with `forward`.
METHODS = """\
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from rfbench.samplers.elsewhere import adapted

def function(X, M, seed):
    random = np.random.default_rng(seed)
    W, b = random.standard_normal((M, X.shape[1])), random.uniform(0, 2 * np.pi, M)
    return np.sqrt(2 / M) * np.cos(X @ W.T + b)

class Map(TransformerMixin, BaseEstimator):
    def __init__(self, n_components=10, random_state=0):
        self.n_components, self.random_state = n_components, random_state

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return function(X, self.n_components, self.random_state)

class Net:
    def __init__(self, d, M, seed):
        self.M, self.seed = M, seed

    def forward(self, X):
        return function(X, self.M, self.seed)

module = adapted(Net)
"""
# Files in which a user defines maps of packages from the index.
KOOP = """\
from pykoop import RandomFourierKernelApprox as Map

def koop(X, M, seed):
    made = Map("gaussian", M // 2, shape=0.5, method="weight_only", random_state=seed)
    return made.fit_transform(X)
"""
TORCH = """\
import torch
from rfbench.samplers.elsewhere import adapted

class Net(torch.nn.Module):
    def __init__(self, d, M, seed):
        super().__init__()
        draw = torch.Generator().manual_seed(seed)
        self.register_buffer("W", torch.randn(d, M, generator=draw))
        self.register_buffer("b", 2 * torch.pi * torch.rand(M, generator=draw))

    def forward(self, X):
        return (2 / len(self.b)) ** 0.5 * torch.cos(X @ self.W + self.b)

net = adapted(Net)
"""
PACKAGES = {"pykoop==2.0.1": ("koop.py:koop", KOOP), "torch==2.13.0": ("net.py:net", TORCH)}
IN_PYTHON = """\
import rfbench
from methods import Map
results = rfbench.run("quickstart", ["samplers=[rks]", "trials=2", "M=20"], out="python")
print(rfbench.rank(Map(), tables="quick", M=50, out="python") if {data} else "no data")
"""
# Modules of the current folder with the names of modules that every worker imports.
PLANTED = ("json", "joblib", "pickle", "threadpoolctl")


class StepError(Exception):
    """A step did not do what it should."""


class Walk:
    """Runs steps, prints a line for each, and counts failures.

    Parameters
    ----------
    top : Path
        Temporary folder for builds, environments and the new user's files.
    """

    def __init__(self, top: Path) -> None:
        self.top, self.failed, self.passed = top, 0, 0
        self.source, self.env, self.user = top / "source", top / "env", top / "user"
        for folder in (self.user, top / "home"):
            folder.mkdir()
        kept = ("PATH", "LANG", "TMPDIR", "RFBENCH_DATA")
        self.variables = {name: os.environ[name] for name in kept if name in os.environ}
        if data := self.variables.get("RFBENCH_DATA"):
            self.variables["RFBENCH_DATA"] = os.path.abspath(data)
        self.variables |= {"HOME": str(top / "home"), "PYTHONDONTWRITEBYTECODE": "1"}

    def call(
        self,
        command: Sequence[str],
        *,
        folder: Path | None = None,
        code: int = 0,
        has: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """Run a command and return its output.

        Raises
        ------
        StepError
            If the exit code differs from `code`, a text of `has` is missing, or a traceback is
            printed.
        """
        done = subprocess.run(
            list(command),
            cwd=folder or self.user,
            env=dict(environment or self.variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        problems = [f"has no {text!r}" for text in has if text not in done.stdout]
        if done.returncode != code:
            problems.insert(0, f"exit code {done.returncode}, not {code}")
        if "Traceback (most recent call last)" in done.stdout:
            problems.append("has a traceback")
        if problems:
            tail = "\n".join(done.stdout.splitlines()[-25:])
            raise StepError(f"{shlex.join(command)}: {'; '.join(problems)}\n{tail}")
        return done.stdout

    def rfbench(self, line: str, *, code: int = 0, has: Sequence[str] = ()) -> str:
        """Run a line ``rfbench ...`` or ``python ...`` in the fresh environment, see `call`."""
        first, *rest = shlex.split(line)
        return self.call([str(self.env / "bin" / first), *rest], code=code, has=has)

    def step(self, name: str, function: Callable[[], object]) -> None:
        """Run one step; print PASSED or FAILED with its seconds."""
        start = time.monotonic()
        try:
            function()
        except (StepError, OSError, AssertionError) as error:
            self.failed += 1
            print(f"FAILED {name}: {error or type(error).__name__}", flush=True)
        else:
            self.passed += 1
            print(f"ok     {name} ({time.monotonic() - start:.1f} s)", flush=True)

    # Installing

    def copy_source(self) -> None:
        """Copy the files of the project, without results of builds and environments."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if listed.returncode == 0:
            files = [Path(name) for name in listed.stdout.split("\0") if name]
        else:  # an unpacked source archive
            files = [path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file()]
        for file in files:
            if (ROOT / file).is_file() and file.parts[0] not in (".venv", "build", "dist"):
                (self.source / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / file, self.source / file)

    def pip(self, *words: str, folder: Path | None = None, environment: str = "env") -> str:
        """Run pip of one of the environments with the user's own pip settings."""
        pip = [str(self.top / environment / "bin" / "python"), "-m", "pip"]
        quiet = ["--quiet", "--disable-pip-version-check"]
        return self.call([*pip, *words, *quiet], folder=folder, environment=os.environ)

    def has_index(self) -> bool:
        """Return True if pip can download a small package."""
        try:
            self.pip("download", "setuptools>=77", "--no-deps", "--no-cache-dir", "--dest", "index")
        except StepError as error:
            print(f"{error}\n")
            return False
        return True

    def build(self) -> None:
        """Build the source archive, and the wheel from it; check the top folders of the wheel."""
        self.pip("install", "build")
        python = str(self.env / "bin" / "python")
        self.call([python, "-m", "build"], folder=self.source, environment=os.environ)
        (wheel,) = self.source.glob("dist/*.whl")
        code = "import sys, zipfile; print(*zipfile.ZipFile(sys.argv[1]).namelist(), sep='\\n')"
        names = self.call([python, "-c", code, str(wheel)]).splitlines()
        folders = {name.partition("/")[0] for name in names if ".dist-info" not in name}
        assert folders == {"rfbench"}, folders

    def install(self) -> None:
        """Install the wheel with the pinned versions, and mypy for a step below."""
        (wheel,) = self.source.glob("dist/*.whl")
        constraints = str(self.source / "constraints.txt")
        self.pip("install", "--constraint", constraints, str(wheel), "mypy")

    def build_and_install_from_source(self) -> None:
        """Run ``pip install .`` and ``pip install -e .`` without the dependencies."""
        for name, words in (("plain", ["."]), ("editable", ["-e", "."])):
            self.call([sys.executable, "-m", "venv", str(self.top / name)])
            self.pip("install", "--no-deps", *words, folder=self.source, environment=name)

    def check_types(self, environment: str) -> None:
        """Check a user's file of three lines with mypy against one of the environments."""
        (self.user / "typed.py").write_text(TYPED)
        python = str(self.top / environment / "bin" / "python")
        mypy = [str(self.env / "bin" / "mypy"), "--cache-dir", str(self.top / "mypy"), "--strict"]
        self.call([*mypy, "--python-executable", python, "typed.py"], has=['"float | str"'])

    # Using

    def readme(self) -> list[str]:
        """Return the commands of README.md, in their order."""
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        lines = list(dict.fromkeys(line.strip() for line in COMMAND.findall(text)))
        assert set(REPLACED) <= set(lines), set(REPLACED) - set(lines)
        return lines

    def readme_command(self, line: str) -> None:
        """Run a command of README.md, or its replacement."""
        command = REPLACED.get(line, (line, ""))[0].replace("{root}", str(self.source))
        if command.startswith("python "):
            command = command.replace("scripts/", f"{self.source}/scripts/")
        self.rfbench(command)

    def missing_data_are_explained(self) -> None:
        """Run a configuration whose data are missing, without a network."""
        without = {name: value for name, value in self.variables.items() if name != DATA_VARIABLE}
        command = [str(self.env / "bin" / "rfbench"), "run", "eerf2018_table3", "--offline"]
        self.call(command, code=2, has=[MISSING_DATA], environment=without)

    def install_package(self, package: str) -> None:
        """Install a package from the index, and write the file that defines a map of it."""
        self.pip("install", "--constraint", str(self.source / "constraints.txt"), package)
        target, content = PACKAGES[package]
        (self.user / target.partition(":")[0]).write_text(content)

    def planted_modules_do_not_run(self) -> None:
        """Run and plot in a folder with modules that would be imported from the current folder."""
        folder = self.top / "planted"
        folder.mkdir()
        for name in PLANTED:
            (folder / f"{name}.py").write_text("open('ran', 'a').write(__name__ + ' ')\n")
        command = str(self.env / "bin" / "rfbench")
        words = ("--set", "M=20", "--trials", "1")
        for name in ("one", "two"):
            self.call([command, "run", "quickstart", *words, "--out", f"r/{name}"], folder=folder)
        self.call([command, "plot", "r"], folder=folder)
        ran = folder / "ran"
        assert not ran.exists(), f"these modules of the current folder ran: {ran.read_text()}"

    def interrupted_run_resumes(self) -> None:
        """Kill a run after its second row, and run the same command again."""
        words = [str(self.env / "bin" / "rfbench"), "run", "quickstart", "--out", "resumed"]
        rows = self.user / "resumed" / "quickstart" / "trials.csv"
        with subprocess.Popen(
            words, cwd=self.user, env=self.variables, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            while process.poll() is None and count_rows(rows) < 2:
                time.sleep(0.05)
            process.send_signal(signal.SIGKILL)
        before = count_rows(rows)
        assert before >= 2, "the run ended before it was killed"
        output = self.rfbench("rfbench run quickstart --out resumed")
        found = re.search(r"(\d+) run, 0 failed, (\d+) measured before", output)
        assert found, output[-500:]
        assert int(found[2]) >= 2, output
        assert count_rows(rows) == int(found[1]) + int(found[2])


def write_messy(folder: Path) -> dict[str, tuple[str, str]]:
    """Write three messy files; return each file's target and a text of the sentence about it."""
    draw = random.Random(5)
    rows = [(i, draw.gauss(60, 9), draw.gauss(0, 1)) for i in range(120)]
    minus = chr(0x2212)  # minus sign of typeset texts
    cars = "sep=;\n;weight;drift;colour;price\n" + "".join(
        f"{i};{a:.1f} kg;{b:.3f};{'€–red' if i % 2 else 'blue '};{a / 10 + 2 * b:.3f}\n"
        for i, a, b in rows
    )
    (folder / "cars.csv").write_bytes(cars.encode("cp1252"))
    sites = "# made by a logger\nheat,shift,region\n" + "".join(
        f"{a:.2f},{f'{b:.3f}'.replace('-', minus)},{['NA', 'EU', 'AS'][(b > 0.4) + (b > -0.4)]}\n"
        for _, a, b in rows
    )
    (folder / "sites.csv").write_text(sites, encoding="utf-8")
    runs = (
        "@relation r\n@attribute 'the heat' real [0, 99]\n@attribute w {é, 'b c'}\n"
        "@attribute code {1000001, 1000002}\n@inputs 'the heat', w\n@data\n"
    ) + "".join(
        f"{a:.2f} , {'é' if i % 3 else chr(39) + 'b c' + chr(39)} , {1000001 + (a > 60)}\n"
        for i, a, _ in rows
    )
    (folder / "runs.arff").write_text(runs, encoding="utf-8")
    return {
        "cars.csv": ("price", "weight (kg)"),
        "sites.csv": ("region", "3 classes, AS, EU, NA"),
        "runs.arff": ("code", "2 classes, 1000001, 1000002"),
    }


# What an author types, with a text of each answer; `write_paper` comes after the first command.
AUTHOR = (
    ("rfbench new --paper doe2031", "rfbench run doe2031"),
    ("rfbench list papers doe2031", "Wells"),
    ("rfbench run doe2031 --trials 6", "0 failed"),
    ("rfbench verify doe2031", "not part of rfbench"),
    ("rfbench verify doe2031 --claim C1", "printed: "),
    ("rfbench verify --cell 'doe2031, Table 1, Wells, RFF, 50' --papers doe2031", "measured minus"),
    ("rfbench report results --papers doe2031 --out pages", "doe2031.md"),
)


def write_paper(folder: Path) -> None:
    """Put a table, ten numbers and one claim into a folder that `rfbench new --paper` wrote."""
    draw = random.Random(3)
    points = [[draw.gauss(0, 1) for _ in range(3)] for _ in range(150)]
    rows = [
        [*(f"{x:.3f}" for x in point), "wet" if point[0] * point[1] + 0.3 * point[2] > 0 else "dry"]
        for point in points
    ]
    with (folder / "wells.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([["a", "b", "c", "state"], *rows])
    head, *_ = (folder / "published.csv").read_text(encoding="utf-8").splitlines()
    numbers = [
        f"table1,Wells,{method},{size},error,{30 - size / 10 + shift},2.0,sd,%,10 trials"
        for method, shift in (("rks", 0.0), ("orf", -0.5))
        for size in (10, 20, 30, 50, 80)
    ]
    (folder / "published.csv").write_text("\n".join([head, *numbers, ""]), encoding="utf-8")
    (configuration,) = folder.glob("*_table1.yaml")
    for file, old, new in (
        (folder / "paper.yaml", "Digits: {dataset: digits, n_train: 1258, n_test: 539}", WELLS),
        (folder / "claims.yaml", "datasets: [Digits]", "datasets: [Wells]"),
        (configuration, "dataset: digits", "dataset: {file: wells.csv, target: state}"),
        (configuration, "M: 50,100", "M: 10,20,30,50,80"),
    ):
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1, (file, old)
        file.write_text(text.replace(old, new), encoding="utf-8")


WELLS = "Wells: {dataset: wells.csv}"


def count_rows(file: Path) -> int:
    """Return the number of rows of a CSV file, 0 if it does not exist."""
    if not file.exists():
        return 0
    with file.open(encoding="utf-8", errors="replace", newline="") as stream:
        return max(0, sum(1 for _ in csv.reader(stream)) - 1)


def write_gaps(file: Path) -> None:
    """Write a table with columns that are constant, empty or incomplete in a fold."""
    draw = random.Random(0)
    with file.open("w", newline="", encoding="utf-8") as stream:
        out = csv.writer(stream)
        out.writerow(["size", "constant", "gaps", "rare", "word", "kind"])
        for i in range(120):
            size = draw.gauss(0, 1)
            kind = "high" if size + 0.5 * draw.gauss(0, 1) > 0 else "low"
            constant = 1 if i == 7 else 0
            gap = "" if i in (3, 50) else round(draw.gauss(0, 1), 3)
            rare = "odd" if i == 11 else draw.choice(["a", "b"])
            word = draw.choice(["x", "y", "z", ""])
            out.writerow([round(size, 4), constant, gap, rare, word, kind])


def write_noise(file: Path) -> None:
    """Write a table whose target does not depend on its columns."""
    draw = random.Random(1)
    with file.open("w", newline="", encoding="utf-8") as stream:
        out = csv.writer(stream)
        out.writerow(["a", "b", "flag", "class"])
        for _ in range(300):
            flag = int(draw.random() < 0.03)
            out.writerow([draw.gauss(0, 1), draw.gauss(0, 1), flag, draw.choice("pq")])


def walk(top: Path, *, torch: bool = False) -> int:
    """Run all steps in a temporary folder, optionally with torch; return the exit code."""
    here = Walk(top)
    subprocess.run([sys.executable, "-m", "venv", str(here.env)], check=True)
    if not here.has_index():
        print("not run: the package index cannot be reached")
        return NOT_RUN
    here.copy_source()
    here.step("build the source archive, and the wheel from it", here.build)
    here.step("install the wheel into a fresh environment", here.install)
    here.step("pip install . and pip install -e .", here.build_and_install_from_source)
    for environment in ("env", "plain", "editable"):
        here.step(f"check types ({environment})", lambda e=environment: here.check_types(e))  # type: ignore[misc]
    if here.failed:
        print("The other steps need an installation and were not run.")
        return 1
    shutil.copy(here.source / "scripts" / "examples" / "sampler.py", here.user / "mine.py")
    write_gaps(here.user / "gaps.csv")
    write_noise(here.user / "noise.csv")

    def line(command: str, **expected: object) -> None:
        here.step(command, lambda: here.rfbench(command, **expected))  # type: ignore[arg-type]

    line("rfbench --version", has=["rfbench"])
    for kind in ("samplers", "solvers", "kernels", "datasets", "papers", "configs", "columns"):
        line(f"rfbench list {kind}")
    line("rfbench run quickstart", has=["0 failed"])
    line("rfbench table results")
    line("rfbench plot results")
    line("rfbench report results --html report.html")
    line("rfbench test sklearn.kernel_approximation.RBFSampler")
    here.step("a configuration whose data are missing", here.missing_data_are_explained)
    here.step("an interrupted run resumes", here.interrupted_run_resumes)
    for command in here.readme():
        replacement, why = REPLACED.get(command, (command, ""))
        if command.startswith(NEEDS_DATA) and DATA_VARIABLE not in here.variables:
            print(f"left out: README: {command}: {DATA_VARIABLE} is not set")
        elif replacement:
            name = f"README: {command}" + (f" [as: {replacement}; {why}]" if why else "")
            here.step(name, lambda c=command: here.readme_command(c))  # type: ignore[misc]
    for table, target in (("gaps", "kind"), ("noise", "class")):
        line(f"rfbench choose {table}.csv --target {target} --budget 15s")
        model = f"results/choose-{table}.csv/model.joblib"
        line(f"rfbench predict {model} {table}.csv --out {table}-out.csv")
    (here.user / "methods.py").write_text(METHODS)
    for form in ("Map", "module"):
        line(f"rfbench test methods.py:{form} --allow-imports")
    data, rank = DATA_VARIABLE in here.variables, "--tables quick --M 50"
    targets = ["methods.py:function"]
    for package, (target, _) in PACKAGES.items():
        if torch or not package.startswith("torch"):
            here.step(f"pip install {package}", lambda p=package: here.install_package(p))  # type: ignore[misc]
            targets.append(target)
        else:
            print(f"not run: {package}: its download may take gigabytes; --torch asks for it")
    for target in targets:
        line(f"rfbench test {target} --allow-imports", has=["yes  gaussian kernel"])
        chosen, out = f'samplers=[rks, {{class: "{target}"}}]', target.partition(":")[2]
        words = f"--set '{chosen}' --set M=20 --trials 2 --allow-imports --out {out}"
        line(f"rfbench run quickstart {words}", has=["0 failed"])
        if data:
            line(f"rfbench rank {target} {rank} --allow-imports", has=["place "])
    if data:
        line(f"rfbench rank sklearn.kernel_approximation.RBFSampler {rank}", has=["place "])
    (here.user / "in_python.py").write_text(IN_PYTHON.replace("{data}", str(data)))
    line("python in_python.py", has=["place " if data else "no data"])
    for file, (target, text) in write_messy(here.user).items():
        out = f"--target {target} --budget 8s --out chosen-{file}"
        line(f"rfbench new {file} --target {target} --out {file}.yaml")
        line(f"rfbench run {file}.yaml --smoke", has=["0 failed"])
        line(f"rfbench choose {file} {out}", has=[text])
        line(f"rfbench predict chosen-{file}/model.joblib {file} --out p-{file}.csv", has=["120"])
    for place, (command, text) in enumerate(AUTHOR):
        line(command, has=[text])
        if not place:
            here.step("an author's numbers", lambda: write_paper(here.user / "doe2031"))
    here.step("modules of the current folder do not run", here.planted_modules_do_not_run)
    line("rfbench choose nowhere.csv --target y", code=2, has=["nowhere.csv"])
    line("rfbench run quickstart --set kernl=gaussian", code=2, has=["kernel"])
    print(f"{here.passed} steps passed, {here.failed} failed")
    return int(here.failed > 0)


def main() -> int:
    """Run the walk in a folder that is removed afterwards."""
    parser = argparse.ArgumentParser(description="Use an installed rfbench as a new user does.")
    parser.add_argument("--keep", action="store_true", help="keep the folder of the walk")
    parser.add_argument("--torch", action="store_true", help="install torch, and use a module")
    asked = parser.parse_args()
    if asked.keep:
        top = Path(tempfile.mkdtemp(prefix="acceptance-"))
        print(f"the folder of the walk is {top}")
        return walk(top, torch=asked.torch)
    with tempfile.TemporaryDirectory(prefix="acceptance-") as name:
        return walk(Path(name), torch=asked.torch)


if __name__ == "__main__":
    sys.exit(main())
