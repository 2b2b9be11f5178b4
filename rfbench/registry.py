"""Samplers, solvers and kernels by their published names: one way to find a thing.

A sampler or a solver is registered by the decorator of its class, which is read from the text of
its file: nothing is imported before it is asked for.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from rfbench.errors import MethodError, unknown

if TYPE_CHECKING:
    from rfbench.kernels import Kernel
    from rfbench.samplers.base import RandomFeatures
    from rfbench.solvers.base import Solver

Thing = TypeVar("Thing")
PACKAGE = Path(__file__).parent


class Class(NamedTuple):
    """Where a class is: its module, and its name there."""

    module: str
    name: str

    def load(self) -> Any:
        """Import it."""
        return getattr(importlib.import_module(self.module), self.name)


@dataclass(frozen=True)
class Registered:
    """What the decorator of a method says of it, as far as it is needed without the class.

    The attributes are those of `rfbench.samplers.declaration.sampler`; a solver has a class per
    task, any other thing one, under an empty task.
    """

    classes: Mapping[str, Class]
    position: int = 0
    aliases: tuple[str, ...] = ()
    about: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


class Registry(Mapping[str, Thing], Generic[Thing]):
    """The things of one kind, imported as they are asked for, in the order of tables and legends.

    Everything that is read has the published name in place of an alias. Entry points of installed
    packages, of the `group`, are found by their names as well.
    """

    def __init__(
        self, kind: str, read: Callable[[], Mapping[str, Registered]], *, group: str | None = None
    ) -> None:
        self.kind, self.group, self._read = kind, group, read

    @cached_property
    def entries(self) -> Mapping[str, Registered]:
        """What there is, by published name; nothing is imported."""
        return self._read()

    def of_module(self, module: str, name: str, **bases: str) -> Any:
        """Return a class by its name in Python, for ``__getattr__`` of the module that has it.

        `bases` are classes that are no entries: the module's own file of each.
        """
        every = [cls for entry in self.entries.values() for cls in entry.classes.values()]
        classes = {cls.name: cls for cls in every}
        classes |= {base: Class(f"{module}.{file}", base) for base, file in bases.items()}
        if name == "__all__":
            return sorted([*classes, "make"])
        if name not in classes:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        return classes[name].load()

    def __getitem__(self, name: str) -> Thing:
        """Return one of rfbench's own by its published name."""
        classes = self.entries[name].classes
        thing: Any = {task: cls.load() for task, cls in classes.items()}
        return thing.get("", thing)  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the published names."""
        return iter(self.entries)

    def __len__(self) -> int:
        """Return how many rfbench has."""
        return len(self.entries)

    def published(self, name: str) -> str:
        """Return the published name of a name."""
        names = (own for own, entry in self.entries.items() if name in entry.aliases)
        return next(names, name)

    def of_label(self, label: str) -> str:
        """Return what has this label in tables, with some of its parameters; or the label."""
        return next((own for own, entry in self.entries.items() if label in entry.labels), label)

    def find(self, name: str) -> Any:
        """Return a thing by any of its names, or from an entry point.

        Raises MethodError: nothing has this name; the nearest one is named.
        """
        name = self.published(name)
        if name in self.entries:
            return self[name]
        for point in metadata.entry_points(group=self.group) if self.group else ():
            if point.name == name:
                return point.load()
        raise unknown(self.kind, name, self.entries)


def decorated(decorator: str, folder: Path, package: str) -> dict[str, Registered]:
    """Read the methods of a folder from the decorators of their classes, in their order.

    ``@sampler("eerf", order=13, ...)`` above ``class EERF`` is the entry ``eerf``. Names,
    positions and texts are written out there, because nothing is run to read them. Two methods of
    one position stand in the order of their names.

    Raises MethodError: a decorator that cannot be read, or a name that stands for two things.
    """
    # From the decorator to its class; the call ends where a line with the class follows.
    block = re.compile(rf"^@{decorator}(\(.*?\))\n(?:@[^\n]*\n)*class (\w+)", re.M | re.S)
    entries: dict[str, Registered] = {}
    for file in sorted(folder.glob("*.py")):
        for call, name in block.findall(file.read_text(encoding="utf-8")):
            cls = Class(f"{package}.{file.stem}", name)
            published, entry = _entry(call, cls, decorator == "solver")
            before = entries.get(published)
            names = {published, *entry.aliases}
            taken = {n for own, e in entries.items() if own != published for n in (own, *e.aliases)}
            if (before and not before.classes.keys().isdisjoint(entry.classes)) or names & taken:
                raise _wrong(cls, f"the name {published}, or an alias, stands for another class")
            classes = {**(before.classes if before else {}), **entry.classes}
            entries[published] = Registered(
                dict(sorted(classes.items())),
                entry.position,
                entry.aliases,
                entry.about,
                entry.labels,
            )
    return dict(sorted(entries.items(), key=lambda item: (item[1].position, item[0])))


def _entry(call: str, cls: Class, has_tasks: bool) -> tuple[str, Registered]:
    """Return the name and the entry that the text of a decorator's call says."""
    try:
        tree: Any = ast.parse(f"_{call}", mode="eval").body
        name = ast.literal_eval(tree.args[0])
        wanted = ("position", "aliases", "about", "labels")
        declared = {k.arg: ast.literal_eval(k.value) for k in tree.keywords if k.arg in wanted}
    except (SyntaxError, ValueError, IndexError, AttributeError) as error:
        raise _wrong(cls, "its name, position, aliases and texts are not written out") from error
    task = "regression" if cls.name.endswith("Regressor") else "classification"
    return str(name), Registered({task if has_tasks else "": cls}, **declared)


def _wrong(cls: Class, why: str) -> MethodError:
    return MethodError(
        f"The decorator of {cls.module}.{cls.name} cannot be read.",
        f"It says: {why}.",
    )


# What each is, is said by the decorators in these folders.
SAMPLERS: Registry[type[RandomFeatures]] = Registry(
    "sampler",
    partial(decorated, "sampler", PACKAGE / "samplers", "rfbench.samplers"),
    group="rfbench.samplers",
)
SOLVERS: Registry[dict[str, type[Solver]]] = Registry(
    "solver",
    partial(decorated, "solver", PACKAGE / "solvers", "rfbench.solvers"),
    group="rfbench.solvers",
)
KERNELS: Registry[type[Kernel]] = Registry(
    "kernel",
    lambda: {
        name: Registered({"": Class("rfbench.kernels", cls)})
        for name, cls in {
            "gaussian": "Gaussian",
            "gaussian-unhalved": "GaussianUnhalved",
            "laplacian": "Laplacian",
            "laplacian-l2": "LaplacianL2",
            "cauchy": "Cauchy",
            "arc-cosine-0": "ArcCosine0",
            "arc-cosine-1": "ArcCosine1",
            "arc-cosine-2": "ArcCosine2",
            "linear": "Linear",
        }.items()
    },
)
