"""Import of methods that the user defines: by an import path, from a file, or as a Python object.

Importing runs code, so `rfbench.permissions` has to check the path first.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import inspect
import linecache
import logging
import pickle
import sys
import traceback
import uuid
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from rfbench.errors import MethodError, suggest_nearest_name

log = logging.getLogger(__name__)
GIVEN = "python"  # prefix of the names of objects that were passed from Python
FORM = "Write package.module.Name, or folder/file.py:Name."


def load_class(path: str, folder: Path | None = None) -> type[Any]:
    """Import a class by its import path, ``package.module.Class`` or ``folder/file.py:Class``.

    A file is searched in `folder`, and then in the current folder. Raise MethodError if the class
    cannot be imported.
    """
    result = load_object(path, folder)
    if not isinstance(result, type):
        raise MethodError(f"{path} is not a class.", f"It is a {type(result).__name__}.")
    return result


def load_object(path: str, folder: Path | None = None) -> Any:
    """Import ``package.module.name``, ``package.module:name`` or ``folder/file.py:name``.

    A file is searched in `folder`, which is the folder of the configuration, and then in the
    current folder. Raise MethodError if the module, the file or the name does not exist.
    """
    colon = ":" in path
    owner, _, name = path.rpartition(":" if colon else ".")
    if colon and owner == GIVEN:
        raise MethodError(
            f"{name} was passed as a Python object.",
            "The file or package that defines the object is not known.",
            "Run the Python code that defines the object.",
        )
    try:
        if colon and owner.endswith(".py"):
            module = _module_of_file(find_plugin_file(path, folder))
        else:
            module = importlib.import_module(owner)
    except MethodError:
        raise
    except (Exception, SystemExit) as error:
        absent = not owner or (
            isinstance(error, ModuleNotFoundError) and f"{owner}.".startswith(f"{error.name}.")
        )
        raise MethodError(
            f"{path} cannot be imported.",
            f"{type(error).__name__}: {getattr(error, 'msg', error)}{_line_of(error)}.",
            FORM if absent else "Correct this line, or install the missing package.",
        ) from error
    try:
        return getattr(module, name)
    except AttributeError as error:
        public = [each for each in vars(module) if not each.startswith("_")]
        raise MethodError(
            f"{path} cannot be imported.",
            f"AttributeError: {owner} has no '{name}'.{suggest_nearest_name(name, public)}",
        ) from error


def _line_of(error: BaseException) -> str:
    """Return the location of an error in imported code: the file, the line number and the line.

    The location is a string for an error message, or empty if it is unknown.
    """
    if isinstance(error, SyntaxError):
        return f" ({error.filename}, line {error.lineno}: {(error.text or '').strip()})"
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [at for at in frames if "importlib" not in at.filename and at.filename != __file__]
    if not theirs:
        return ""
    # Report the last line of the imported file that was executed. Later frames belong to libraries,
    # which are not the cause of the error.
    at = [frame for frame in theirs if frame.filename == theirs[0].filename][-1]
    line = linecache.getline(at.filename, at.lineno or 0).strip()
    return f" ({at.filename}, line {at.lineno}: {line})"


@dataclass(frozen=True)
class GivenObject:
    """A pickled Python object, such as a user's method, that is sent to worker processes.

    Attributes
    ----------
    content : bytes
        Pickle of the object, which only `load` reads.
    identity : str
        Hash of the source code of the class or function, and of the parameters.
    modules : tuple of (str, str)
        Names and files of the modules that define the object. Worker processes do not search the
        current folder for modules, so they import the modules from these files.
    """

    content: bytes
    identity: str
    modules: tuple[tuple[str, str], ...] = ()

    @classmethod
    def from_object(cls, given: Any) -> GivenObject:
        """Pickle an object, and compute a hash of its source code and parameters.

        If the source code is not known, a warning is logged, and the hash is replaced by a random
        string. Raise MethodError if the object cannot be pickled.
        """
        import joblib

        try:
            # Wrap the object in a tuple, because joblib replaces a bare class or function by a
            # wrapper.
            packed = joblib.wrap_non_picklable_objects((given,), keep_wrapper=False)
            content = pickle.dumps(packed)
        except Exception as error:
            raise MethodError(
                f"{given!r} cannot be sent to the worker processes.",
                f"{type(error).__name__}: {error}.",
                "Remove open files and locks from it, or use the import path of its class.",
            ) from error
        try:
            identity = str(joblib.hash([_source_of(given), _state_of(given)]))[:16]
        except Exception as error:
            identity = f"only here {uuid.uuid4().hex[:16]}"
            log.warning(
                "The source code of %s is unknown (%s), so that another process cannot "
                "resume its rows.",
                getattr(given, "__name__", type(given).__name__),
                error,
            )
        return cls(content, identity, _modules_of(given))

    def load(self) -> Any:
        """Return the unpickled object. Each process unpickles the object only once."""
        return _loaded(self.content, self.modules)


@functools.lru_cache(maxsize=8)
def _loaded(content: bytes, modules: tuple[tuple[str, str], ...]) -> Any:
    for name, file in modules:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            sys.modules[name] = _module_of_file(Path(file))
    return pickle.loads(content)[0]


def _modules_of(thing: Any) -> tuple[tuple[str, str], ...]:
    """Return the names and files of the modules that define an object.

    The object is a function, a class or an instance. The modules of base classes are included.
    Modules in packages are left out, because they can be imported by name.
    """
    if not isinstance(thing, type) and not hasattr(thing, "__code__"):
        thing = type(thing)
    every = thing.__mro__[::-1] if isinstance(thing, type) else [thing]
    found = {}
    for each in every:
        name = each.__module__
        file = getattr(sys.modules.get(name), "__file__", None)
        # Include only modules that are single files. Objects of `__main__` are stored in the pickle
        # itself, and modules of packages can be imported by name.
        if file and file.endswith(".py") and name != "__main__" and "." not in name:
            found[name] = str(Path(file).absolute())
    return tuple(found.items())


def _source_of(thing: Any) -> list[str]:
    """Return the source code of a function, or of a class and its user-defined base classes."""
    if not isinstance(thing, type):
        code = getattr(thing, "__code__", None)
        thing = thing if code is not None else type(thing)
    if not isinstance(thing, type):
        return [inspect.getsource(thing)]
    known = {"builtins", "abc", "typing", "sklearn", "numpy"}
    return [
        inspect.getsource(cls) for cls in thing.__mro__ if cls.__module__.split(".")[0] not in known
    ] or [f"{thing.__module__}.{thing.__qualname__} {_package(thing.__module__.split('.')[0])}"]


def _state_of(thing: Any) -> Any:
    """Return the parameters or attributes of an object, with the source code of nested objects.

    For a function, return its defaults and the variables of its closure.
    """
    if isinstance(thing, type):
        return None
    if (code := getattr(thing, "__code__", None)) is not None:
        free = [cell.cell_contents for cell in thing.__closure__ or ()]
        return [code.co_freevars, thing.__defaults__, [_part(each) for each in free]]
    if hasattr(thing, "get_params"):
        state = thing.get_params(deep=False)
    else:
        state = getattr(thing, "__dict__", {})
    return {name: _part(each) for name, each in state.items()}


def _part(value: Any) -> Any:
    theirs = hasattr(value, "__code__") or hasattr(value, "get_params") or isinstance(value, type)
    return [_source_of(value), _state_of(value)] if theirs else value


def find_plugin_file(path: str, folder: Path | None) -> Path:
    """Return the path of the file in an import path ``folder/file.py:Class``.

    The file is searched in `folder`, and then in the current folder. Raise MethodError if it does
    not exist.
    """
    file = Path(path.rpartition(":")[0])
    for base in ([folder] if folder else []) + [Path()]:
        if (base / file).is_file():
            return base / file
    beside = "next to the configuration or " if folder else ""
    raise MethodError(
        f"The file {file} of {path} does not exist.",
        f"The file was not found {beside}in the current folder.",
        "Run the command in the folder that contains the file.",
    )


def _module_of_file(file: Path) -> Any:
    """Import a Python file as a module. The name of the module contains a hash of the file."""
    name = "rfbench_file_" + hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, file)
        if spec is None or spec.loader is None:
            raise ImportError(f"{file} is not a Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def hash_class_code(path: str, folder: Path | None = None) -> str:
    """Return a string that identifies the code of a class, and changes with the code.

    For a class in a file, it is a hash of the file. For a class of an installed package, it is the
    version of the package. For a class of rfbench, it is the attribute `revision` of the class. A
    file is searched in `folder`, and then in the current folder.
    """
    if path.startswith("rfbench."):
        return f"rfbench revision {getattr(load_class(path), 'revision', 1)}"
    if ":" in path:
        return hashlib.sha256(find_plugin_file(path, folder).read_bytes()).hexdigest()[:16]
    return _package(path.split(".")[0])


# Cache the result, because a call needs half a second and each trial calls this function.
@functools.cache
def _package(package: str) -> str:
    names = metadata.packages_distributions().get(package, [package])
    try:
        return f"{names[0]} {metadata.version(names[0])}"
    except metadata.PackageNotFoundError:
        return package
