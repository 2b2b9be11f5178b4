"""Name every callable of rfbench and scikit-learn in a stranger's text, and watch what happens.

Run as a script, because nobody can take an audit hook out of a process again; its word says that
of what is not listed every n-th one is named. It ends with 1, and
names the first text that did something, or that was not refused.
"""

import contextlib
import importlib
import inspect
import pkgutil
import sys
import warnings

import sklearn

import rfbench
from rfbench import config, permissions, yamlfile
from rfbench.config import Experiment
from rfbench.errors import RfbenchError
from rfbench.experiment.replay import trials_like

# Whatever happens before somebody permits it is too much; of a listed estimator, these.
HARM = (
    *("socket.", "subprocess.", "shutil.", "ctypes.", "pickle.", "tempfile.", "urllib.", "ftplib."),
    *("os.system", "os.exec", "os.posix_spawn", "os.fork", "os.mkdir", "os.remove", "os.rename"),
)
ANYTHING = (*HARM, "open", "import", "exec", "compile", "os.")
BASE = {"dataset": "digits", "split": {"test_size": 0.3}, "M": 5, "trials": 1, "samplers": ["rks"]}
ROW = {"dataset": "digits", "trial": "0", "M": "5"}
WRITES = set("wax+")

watched: tuple[str, ...] = ()


class Happened(BaseException):
    """Something that nobody permitted."""


def hook(event, values):
    if watched and event.startswith(watched):
        raise Happened(f"{event} {values!r:.200}")
    if watched and event == "open" and WRITES & set(str(values[1] or "")):
        raise Happened(f"open {values!r:.200}")


def callables():
    """Return the paths of the callables of all modules that can be imported."""
    for package in (rfbench, sklearn):
        for found in pkgutil.walk_packages(
            package.__path__, f"{package.__name__}.", onerror=lambda name: None
        ):
            parts = found.name.split(".")
            if not {"tests", "conftest", "__main__", "__check_build"} & set(parts):
                try:
                    module = importlib.import_module(found.name)
                except (ImportError, AttributeError):
                    continue  # of a package that is not installed
                for name in dir(module):
                    if callable(getattr(module, name, None)):
                        yield f"{found.name}.{name}"


def read(changes):
    config.from_document(yamlfile.Document({**BASE, **changes}, "text"), "text")


def replay(changes):
    spec = Experiment.model_validate({**BASE, "name": "text"}).model_dump(mode="json")
    trials_like(ROW, {"config": {**spec, **changes}})


def doors(path):
    """Yield the ways by which a text names a path: what is done, with what, is it a class."""
    yield read, {"dataset": {"load": path}}, False
    yield read, {"dataset": [{"load": path, "path": "evil.py:main", "name": "x"}]}, False
    yield read, {"samplers": [{"class": path}]}, True
    yield read, {"solver": {"class": path}}, True
    yield replay, {"dataset": [{"name": "x", "parameters": {"load": path}}]}, False
    method = {"name": path, "imported": True, "parameters": {}}
    yield replay, {"samplers": [{**method, "label": "x"}]}, True
    yield replay, {"solver": method}, True


def attempt(door, changes, *, listed):
    """Go through a door; raise unless it is refused, or the text names what is listed."""
    global watched
    watched = HARM if listed else ANYTHING
    try:
        door(changes)
    except RfbenchError as error:
        refused = "--allow-imports" in str(error)
        assert listed or refused, f"{changes}: refused by chance alone: {error}"
        assert not (listed and refused), f"{changes}: {error}"
    except Happened as happened:
        raise AssertionError(f"{changes}: {happened}") from None
    else:
        assert listed, f"{changes}: permitted"
    finally:
        watched = ()


def main():
    warnings.simplefilter("ignore")
    paths = list(callables())
    listed, settable = permissions.listed()
    for changes in ({"dataset": {"load": "a.b"}}, {"samplers": [{"class": "sklearn.a.b"}]}):
        with contextlib.suppress(RfbenchError):  # what a refusal imports late
            read(changes)
    sys.addaudithook(hook)
    every = int(sys.argv[1])
    for path in [p for n, p in enumerate(paths) if n % every == 0 or p in listed]:
        for door, changes, is_class in doors(path):
            attempt(door, changes, listed=is_class and path in listed)
        colon = ":".join(path.rsplit(".", 1))
        attempt(read, {"dataset": {"load": colon}}, listed=False)
        attempt(read, {"samplers": [{"class": colon}]}, listed=False)
    settings = 0
    for path in sorted(listed):
        module, _, name = path.rpartition(".")
        cls = getattr(importlib.import_module(module), name)
        for word in inspect.signature(cls).parameters:
            values = ["./planted", ["evil.py:main"]] if word not in settable else []
            for value in [*values, {"a": 1}, [{"class": "evil.py:main"}]]:
                changes = {"samplers": [{"class": path, word: value}]}
                attempt(read, changes, listed=False)
                settings += 1
    sys.stdout.write(f"{len(paths)} {len(listed)} {settings}\n")


if __name__ == "__main__":
    main()
