"""The rules that keep the house in order: who may import whom, and what stands in one place."""

import ast
import functools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import rfbench
from rfbench.slices import SLICES

PACKAGE = Path(rfbench.__file__).parent
TESTS = Path(__file__).parent

# From the ground up: a room imports rooms of lower floors alone.
GROUND: tuple[tuple[str, ...], ...] = (
    (
        *("_version", "arrays", "clock", "errors", "escaping", "platforms"),
        *("method_names", "metrics", "shipped", "slices", "source"),
    ),
    (
        "files",
        "home",
        "interpreter",
        "parameters",
        "plotting",
        "plugins",
        "rows",
        "usable",
        "yamlfile",
    ),
    ("aliases", "grids", "memory", "permissions", "registry"),
    ("compute",),
    ("kernels",),
    ("bandwidths",),
)
FLOORS: tuple[tuple[str, ...], ...] = (
    *GROUND,
    ("samplers",),
    ("solvers",),
    ("datasets", "results", "papers"),
    ("config",),
    ("experiment",),
    ("analysis",),
    ("figures",),
    ("pages",),
    ("api", *SLICES),
    ("cli", "rfbench"),  # the names that `import rfbench` offers, and the commands
    ("__main__",),
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
# What is made from rows reads rows, manifests and papers, never what is on this machine's disk.
READERS = ("analysis", "figures", "pages")
READ = ("results", "papers", "analysis", "figures", *(room for rooms in GROUND for room in rooms))


def name_of(file: Path) -> str:
    parts = ("rfbench", *file.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(file): file for file in sorted(PACKAGE.rglob("*.py"))}


def room_of(module: str) -> str:
    """Return the room of a module.

    What a paper's claims compare is run by the analysis, a slice's command by the command line.
    """
    if re.fullmatch(r"rfbench\.papers\.\w+\.claims", module):
        return "analysis"
    if re.fullmatch(rf"rfbench\.({'|'.join(SLICES)})\.command", module):
        return "cli"
    return module.split(".")[1] if "." in module else module


def statements(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports of a module: also those inside functions, and those of types alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node


def imported(tree: ast.Module) -> set[str]:
    """Return the modules of the package that a module imports."""
    found = set()
    for node in statements(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        else:
            assert node.level == 0, "an import relative to the file hides what it names"
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else str(node.module) for name in whole}
    return found & set(MODULES)


@functools.cache
def trees() -> dict[str, ast.Module]:
    return {module: ast.parse(file.read_text()) for module, file in MODULES.items()}


@functools.cache
def graph() -> dict[str, set[str]]:
    return {module: imported(tree) - {module} for module, tree in trees().items()}


def circles(edges: dict[str, set[str]]) -> set[str]:
    """Return the nodes from which a circle can be reached."""
    left = {node: set(others) for node, others in edges.items()}
    while ends := {node for node, others in left.items() if not others & set(left)}:
        left = {node: others for node, others in left.items() if node not in ends}
    return set(left)


def test_package_has_no_circular_imports() -> None:
    assert circles(graph()) == set()


def test_each_package_is_assigned_to_an_import_layer() -> None:
    assert {room_of(module) for module in MODULES} <= set(FLOOR)


@pytest.mark.parametrize("room", [room for rooms in FLOORS for room in rooms])
def test_layer_imports_only_lower_layers(room: str) -> None:
    upward = {
        (module, other)
        for module, others in graph().items()
        for other in others
        if room_of(module) == room and room_of(other) != room
        if FLOOR[room_of(other)] >= FLOOR[room]
    }
    assert upward == set()


def slice_of(module: str) -> str | None:
    """Return the slice in whose folder a module lies; None for the core."""
    return next((name for name in SLICES if f"{module}.".startswith(f"rfbench.{name}.")), None)


def test_optional_subpackages_are_not_imported_by_core_or_each_other() -> None:
    across = {
        (module, other)
        for module, others in graph().items()
        for other in others
        if slice_of(other) not in (None, slice_of(module))
    }
    assert across == set()


def test_core_modules_do_not_import_optional_subpackages_by_name() -> None:
    """No module of the core names one to import, whether early, late or as a type."""
    named = re.compile(rf"rfbench(\.|/| import )({'|'.join(SLICES)})\b")
    for module, file in MODULES.items():
        if slice_of(module) is None and module != "rfbench.slices":
            assert not named.search(file.read_text()), module
    asking = {module for module, others in graph().items() if "rfbench.slices" in others}
    assert {module for module in asking if room_of(module) != "cli"} == {
        "rfbench",
        "rfbench.analysis.verification",
        "rfbench.pages.html",
        "rfbench.pages.paper",
        "rfbench.pages.report",
        "rfbench.pages.scoreboard",
    }


def test_optional_subpackages_define_only_hooks_that_the_core_calls() -> None:
    asked = set()
    for tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "slices.call_hooks":
                asked.add(ast.literal_eval(node.args[0]))
    described = ast.get_docstring(trees()["rfbench.slices"]) or ""
    questions = set(re.findall(r"^``(\w+)\(", described, re.M))
    asked |= {"describe_check"}  # by the leaderboard, which may be absent
    assert questions == asked
    for name in SLICES:
        tree = trees()[f"rfbench.{name}.slice"]
        public = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert {name for name in public if name[0] != "_"} <= asked


@pytest.mark.parametrize("reader", READERS)
def test_analysis_figures_and_pages_do_not_import_measurement_packages(reader: str) -> None:
    """Titles of data sets are in the catalogue alone, which has no rows."""
    titles = ("rfbench.analysis.naming", "rfbench.datasets.catalog")
    read = {
        o
        for m, others in graph().items()
        if room_of(m) == reader
        for o in others
        if (m, o) != titles
    }
    assert {room_of(other) for other in read} <= {reader, *READ}


def test_only_the_results_package_opens_result_files() -> None:
    for module, file in MODULES.items():
        if room_of(module) != "results":
            assert not re.search(r'"(trials\.csv|manifest\.json|kept\.csv)"', file.read_text()), (
                module
            )


# What writes, renames or removes a file, in any form that the package may come to use.
WRITES = re.compile(
    r"\b(write_text|write_bytes|to_(csv|json|pickle|parquet|excel|hdf|feather)|savefig|imsave|dump"
    r"|save|savez|savez_compressed|savetxt|tofile|memmap|open_memmap|mkstemp|mkdtemp|mkdir|makedirs"
    r"|rmtree|rmdir|unlink|remove|removedirs|rename|renames|replace|move|copy|copy2|copyfile|copytree"
    r"|touch|truncate|symlink|symlink_to|link|hardlink_to|chmod|open|fdopen|NamedTemporaryFile"
    r"|TemporaryFile|TemporaryDirectory|FileHandler|ZipFile|extractall|H5File)$"
)
# These names are methods of texts, tables and lists as well: they count after these modules alone.
SHARED = {"save", "remove", "replace", "rename", "copy", "move", "link", "truncate"}
OWNERS = {"os", "shutil", "np", "numpy", "path", "file", "folder", "target", "stage", "place"}
ELSEWHERE = {
    "rfbench.cli": {"os.open(os.devnull, os.O_WRONLY)"},  # for streams that were closed
    "rfbench.cli.running": {"open(os.devnull, 'w')"},
    "rfbench.experiment.worker_process": {
        "tempfile.TemporaryFile('ab+')",  # without a name
        "pickle.dump(content, self._process.stdin)",
    },
    "rfbench.experiment.worker": {
        "os.fdopen(os.dup(0), 'rb')",
        "os.fdopen(os.dup(1), 'wb')",
        "open(os.devnull)",
    },
    "rfbench.platforms": {"Path('/proc/self/clear_refs').write_text('5')"},
    "rfbench.plotting": {"os.open(os.curdir, platforms.OPEN_FOLDER)"},  # to return
    "rfbench.home": {"tempfile.TemporaryDirectory(prefix='rfbench-')"},
}
IN_MEMORY = re.compile(r"\b(BytesIO|StringIO|stream|dumped)\b")


def writes_of(module: str, tree: ast.AST) -> set[str]:
    """Return the calls of a module that may write, rename or remove a file."""
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not (name := WRITES.search(ast.unparse(node.func))):
            continue
        call, owner = ast.unparse(node), ast.unparse(node.func).rpartition(".")[0]
        if name[1] in SHARED and owner.rpartition(".")[2] not in OWNERS:
            continue
        reads = re.search(r"\.open\('rb'\)$|^(archive|packed)\.open\(|ZipFile\(\w+\)$", call)
        in_memory = name[1] in ("to_csv", "savefig", "dump", "savez") and IN_MEMORY.search(call)
        in_memory = in_memory or (name[1] == "to_csv" and not node.args)
        if not (reads or in_memory or owner == "files"):
            found.add(call)
    return found


def test_only_the_files_module_writes_renames_or_removes_files() -> None:
    found = {
        module: writes_of(module, tree)
        for module, tree in trees().items()
        if module != "rfbench.files"
    }
    assert {module: calls for module, calls in found.items() if calls} == ELSEWHERE


# Rooms whose files lie in folders of ours read through `rfbench.files`, but the package's files.
BEHIND_THE_DOOR = ("results", "figures", "pages", "analysis", *SLICES)
READERS_OF_THE_PACKAGE = {
    "rfbench.choosing.rounds",
    "rfbench.figures",  # the code that draws
    "rfbench.pages.html",  # template and style
}


def test_result_and_page_modules_read_files_only_through_the_files_module() -> None:
    reads = re.compile(r"\b(read_text|read_bytes|open|load)$")
    for module, tree in trees().items():
        if room_of(module) in BEHIND_THE_DOOR and module not in READERS_OF_THE_PACKAGE:
            calls = [ast.unparse(n) for n in ast.walk(tree) if isinstance(n, ast.Call)]
            names = [call for call in calls if reads.search(call.partition("(")[0])]
            assert [call for call in names if not re.search("BytesIO|yaml", call)] == [], module


# Each way to start a process, and the modules that have it. An interpreter is started by
# `rfbench.interpreter` alone, which keeps files of the current folder out of it.
STARTS = re.compile(
    r"\b(subprocess\.\w+|multiprocessing|concurrent\.futures|loky|runpy|pty|sys\.executable|Parallel"
    r"|Process|ProcessPoolExecutor|os\.(exec|spawn|posix_spawn|fork|popen|system)\w*)$"
)
STARTERS = {
    "rfbench.interpreter": {"sys.executable"},
    "rfbench.experiment.worker_process": {"subprocess.Popen", "subprocess.PIPE"},
    "rfbench.experiment.environment": {"subprocess.check_output"},  # git
    "rfbench.experiment.fanout": {"Parallel"},  # threads, or workers of dask
    "rfbench.platforms": {"subprocess.check_output"},  # sysctl
}


def test_each_process_is_started_by_a_listed_module() -> None:
    found: dict[str, set[str]] = {}
    for module, tree in trees().items():
        names = [
            *(ast.unparse(n) for n in ast.walk(tree) if isinstance(n, ast.Attribute | ast.Name)),
            *(str(n.module) for n in statements(tree) if isinstance(n, ast.ImportFrom)),
            *(a.name for n in statements(tree) for a in n.names),
        ]
        found[module] = {name for name in names if STARTS.search(name)}
    # These start nothing.
    harmless = {"subprocess.DEVNULL", "subprocess.SubprocessError", "psutil.Process"}
    assert {module: names - harmless for module, names in found.items() if names - harmless} == (
        STARTERS
    )
    assert "interpreter." in MODULES["rfbench.experiment.worker_process"].read_text()


def test_only_the_command_line_prints() -> None:
    for module, tree in trees().items():
        if room_of(module) == "cli":
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in ("print", "click.echo", "click.secho"), module
                assert not called.startswith(("sys.stdout.", "sys.stderr.")), module


def string_types(tree: ast.AST) -> list[str]:
    """Return where a module names the type of texts, which versions of pandas name differently."""
    named: list[ast.AST] = []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "dtype":
            named.append(node.value)
        elif isinstance(node, ast.Call):
            if re.search(r"\b(as|pandas_d|d)type$", called := ast.unparse(node.func)):
                named += [*node.args, *node.keywords]
            elif called.endswith("StringDtype"):
                found.append(ast.unparse(node))
        elif isinstance(node, ast.Compare) and re.search(r"dtype\b", ast.unparse(node)):
            named += [node.left, *node.comparators]
    texts = (each for node in named for each in ast.walk(node) if isinstance(each, ast.Constant))
    return [*found, *(each.value for each in texts if re.match(r"str(ing)?\b", str(each.value)))]


def test_pandas_string_dtype_is_defined_once() -> None:
    """`"str"` is a type of its own from pandas 3 on, and the name of object in pandas 2.3."""
    found = {module: string_types(tree) for module, tree in trees().items()}
    constant = ["pd.StringDtype(na_value=np.nan)"]
    assert {module: where for module, where in found.items() if where} == {
        "rfbench.results.schema": constant
    }
    for line in (
        'x.astype("str")',
        'x.astype({"a": "string"})',
        'pd.Series(x, dtype="str")',
        'pd.read_csv(x, dtype={"a": "string[python]"})',
        'pd.api.types.pandas_dtype("str")',
        'x.dtype == "str"',
        "pd.StringDtype()",
    ):
        assert string_types(ast.parse(line)), line


def test_no_pandas_option_is_set() -> None:
    for module, tree in trees().items():
        calls = [ast.unparse(n) for n in ast.walk(tree) if isinstance(n, ast.Attribute)]
        assert [c for c in calls if re.search(r"^(pd|pandas)\.(\w+_option|options)\b", c)] == [], (
            module
        )


def test_class_names_are_unique() -> None:
    names = Counter(
        node.name
        for module, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_no_test_imports_a_test() -> None:
    """What tests share stands in `tests/support`, in a conftest or in a contract."""
    for file in TESTS.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom):
                names = {str(node.module), *(alias.name for alias in node.names)}
                assert not any(re.search(r"(^|\.)test_\w+$", name) for name in names), file


WORKFLOWS = sorted((PACKAGE.parent / ".github" / "workflows").glob("*.y*ml"))


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_workflow_is_read_only_and_its_actions_are_pinned(file: Path) -> None:
    """A tag of an action can be moved to other code, a commit cannot."""
    content = yaml.safe_load(file.read_text())
    assert content["permissions"]["contents"] == "read"
    steps = [step for job in content["jobs"].values() for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used
    assert [name for name in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name)] == []
    of_jobs = [job.get("permissions", {}) for job in content["jobs"].values()]
    assert all(each.get("contents", "read") == "read" for each in of_jobs)


def test_only_the_plotting_module_imports_matplotlib_directly() -> None:
    """No module imports it when it is imported itself, before `plotting.import_matplotlib` runs."""
    for module, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                assert "matplotlib" not in ast.unparse(node).replace("import_matplotlib", ""), (
                    module
                )
    whole = {
        module
        for module, tree in trees().items()
        for node in statements(tree)
        if isinstance(node, ast.Import)
        if any(alias.name.split(".")[0] == "matplotlib" for alias in node.names)
    }
    assert whole == {"rfbench.plotting"}


def test_only_the_usable_module_determines_cores_and_memory() -> None:
    """Those of the machine are a part of its record alone: a process may have fewer."""
    asked = re.compile(r"\b(os|multiprocessing|joblib)\.cpu_count|sched_getaffinity|virtual_memory")
    asking = {module for module, file in MODULES.items() if asked.search(file.read_text())}
    assert asking == {"rfbench.usable", "rfbench.experiment.environment"}


# Files, modules and calls that a system may lack, and the attributes with which one asks for them.
OF_A_PLATFORM = re.compile(
    r"^[\"']/(proc|sys|dev)/|^(resource|mmap|ctypes|winreg|msvcrt|select)(\.|$)|\b_winapi\b"
    r"|^os\.(pidfd_\w+|waitid|sched_\w+|killpg|setsid|fork\w*|memfd_\w+|eventfd\w*|O_PATH|uname)$"
    r"|^os\.(prctl|getloadavg|sysconf\w*|posix_fadvise|splice|sendfile|copy_file_range)$"
    r"|^signal\.(pidfd_\w+|sig(timedwait|waitinfo)|pthread_\w+|setitimer|alarm)$"
    r"|memory_(full_)?info$|^sys\.(platform|getwindowsversion)$|\bRLIMIT_|^getattr\(os\b"
)


def of_a_platform(tree: ast.AST) -> set[str]:
    """Return what a module names that not every system has."""
    kinds = ast.Attribute | ast.Name | ast.Constant | ast.Call
    names = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, kinds)]
    names += [alias.name for node in statements(tree) for alias in node.names]
    for node in statements(tree):
        if isinstance(node, ast.ImportFrom):
            names += [str(node.module), *(f"{node.module}.{each.name}" for each in node.names)]
    return {name for name in names if OF_A_PLATFORM.search(name)}


def test_only_the_platforms_module_contains_platform_specific_calls() -> None:
    found = {module: of_a_platform(tree) for module, tree in trees().items()}
    assert [module for module, names in found.items() if names] == ["rfbench.platforms"]
    for line in (
        "os.pidfd_open(1)",
        "from os import waitid",
        "from resource import setrlimit",
        "import resource as r",
        "len(os.sched_getaffinity(0))",
        "open('/proc/self/status')",
        "psutil.Process().memory_info().data",
        "getattr(os, 'O_PATH', 0)",
        "os.killpg(1, 9)",
        "if sys.platform == 'linux': pass",
    ):
        assert of_a_platform(ast.parse(line)), line


MOST_LINES = 70


def lines_of_code(function: ast.FunctionDef, source: list[str]) -> int:
    """Return the lines of a function without docstrings, comments and blank lines."""
    texts: set[int] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            texts |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    own = range(function.lineno, (function.end_lineno or 0) + 1)
    lines = [source[number - 1].strip() for number in own if number not in texts]
    return sum(bool(line) and not line.startswith("#") for line in lines)


def test_no_function_has_more_than_70_lines_of_code() -> None:
    found = {
        f"{module}.{node.name}"
        for module, file in MODULES.items()
        for node in ast.walk(trees()[module])
        if isinstance(node, ast.FunctionDef)
        if lines_of_code(node, file.read_text().splitlines()) > MOST_LINES
    }
    assert not found


# An expression that stands for a solver or a sampler, and questions about its type.
METHOD = re.compile(r"solver|sampler|features|model|estimator|reference|\bdrawn\b|SAMPLERS|SOLVERS")
INTERFACES = {
    *("rfbench.samplers.base", "rfbench.samplers.elsewhere"),
    *("rfbench.solvers", "rfbench.solvers.fitted_model", "rfbench.solvers.folds"),
}


def questions_of_type(tree: ast.AST) -> list[str]:
    """Return the calls that ask a solver or a sampler for its type, or try what it has."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        called, first = ast.unparse(node.func), ast.unparse(node.args[0])
        asks = called in ("isinstance", "issubclass", "type", "hasattr")
        asks = asks or (called == "getattr" and len(node.args) == 3)
        if asks and METHOD.search(first):
            found.append(ast.unparse(node))
    return found


def test_experiment_package_does_not_test_the_type_of_a_method() -> None:
    """Solvers, samplers and what is adapted to them have one interface each, without a type."""
    from rfbench.registry import SAMPLERS, SOLVERS

    for module, tree in trees().items():
        if room_of(module) != "experiment":
            continue
        assert questions_of_type(tree) == [], module
        methods = {o for o in graph()[module] if room_of(o) in ("samplers", "solvers")}
        assert methods <= INTERFACES, module
        names = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        assert not names & {*SAMPLERS, *SOLVERS}, module
        taken = {alias.name for node in statements(tree) for alias in node.names}
        assert not taken & {*SAMPLERS.list_classes(), *SOLVERS.list_classes(), "NO_SOLVER"}, module
    for line in (
        "isinstance(solver, Solver)",
        'getattr(features, "keeps_some", False)',
        "type(model)(1)",
        'hasattr(self.estimator, "fit")',
    ):
        assert questions_of_type(ast.parse(line)), line


def test_no_global_setting_is_changed_during_a_fit() -> None:
    """What fits share is an argument: no context variable, no attribute reset in `finally`."""
    for module, tree in trees().items():
        if room_of(module) not in ("experiment", "samplers", "solvers"):
            continue
        assert "contextvars" not in MODULES[module].read_text(), module
        for node in ast.walk(tree):
            if isinstance(node, ast.Try):
                last = [each for line in node.finalbody for each in ast.walk(line)]
                assert not [
                    ast.unparse(each)
                    for each in last
                    if isinstance(each, ast.Assign | ast.Delete)
                    if "self." in ast.unparse(each)
                ], module


def test_no_import_is_inside_a_loop() -> None:
    """An import takes a microsecond when the module is there; loops of reports run 60,000 times."""
    inside = {
        (module, node.lineno)
        for module, tree in trees().items()
        for loop in ast.walk(tree)
        if isinstance(loop, ast.For | ast.AsyncFor | ast.While)
        for node in statements(loop)
    }
    assert inside == set()
