import importlib
from pathlib import Path

import pytest

from rfbench import samplers
from rfbench.errors import MethodError
from rfbench.registry import (
    KERNELS,
    PRINTED,
    REMOVED_SAMPLERS,
    SAMPLERS,
    SOLVERS,
    find_internal_name,
)
from rfbench.samplers import RKS, RandomFeatures
from rfbench.solvers import Solver


def declared(package, decorator):
    """Return the classes that a decorator stands above, in any file of a package."""
    files = sorted(Path(package.__file__).parent.glob("*.py"))
    names = [file.stem for file in files if f"\n@{decorator}(" in file.read_text()]
    modules = [importlib.import_module(f"{package.__name__}.{name}") for name in names]
    return [
        cls
        for module in modules
        for cls in vars(module).values()
        if isinstance(cls, type) and cls.__module__ == module.__name__
    ]


def test_registries_contain_each_declared_sampler_and_solver():
    classes = [cls for cls in declared(samplers, "sampler") if "declaration" in vars(cls)]
    assert {cls.declaration.name: cls for cls in classes} == dict(SAMPLERS)
    assert len(classes) == len(SAMPLERS)
    listed = {(name, cls) for name, tasks in SOLVERS.items() for cls in tasks.values()}
    for _, cls in listed:
        assert (cls in [tasks.get("regression") for tasks in SOLVERS.values()]) == (
            cls.__name__.endswith("Regressor")
        )


def test_alias_is_unique():
    for registry in (SAMPLERS, SOLVERS, KERNELS):
        assert set(registry.aliases.values()) <= set(registry)
        assert not set(registry.aliases) & set(registry)


def test_each_registered_name_refers_to_a_class():
    assert all(issubclass(cls, RandomFeatures) for cls in SAMPLERS.values())
    assert all(issubclass(cls, Solver) for tasks in SOLVERS.values() for cls in tasks.values())
    assert {name: cls.name for name, cls in KERNELS.items()} == {name: name for name in KERNELS}


def test_each_display_name_is_unique_and_belongs_to_a_method():
    labels = {label for cls in SAMPLERS.values() for label in cls.declaration.labels}
    references = {"boosting", "exact-kernel"}  # models of the leaderboard, without features
    assert set(PRINTED) <= {*SAMPLERS, *labels, *references}
    assert len(set(PRINTED.values())) == len(PRINTED)


@pytest.mark.parametrize("name", REMOVED_SAMPLERS)
def test_removed_sampler_has_an_error_with_the_reason_and_a_replacement(name):
    with pytest.raises(MethodError) as caught:
        SAMPLERS.find(name)
    assert REMOVED_SAMPLERS[name] in SAMPLERS
    assert str(caught.value).startswith(f"There is no sampler '{name}' anymore.")
    assert "no published row used it" in str(caught.value)
    assert f"Use {REMOVED_SAMPLERS[name]}" in str(caught.value)


def test_alias_resolves_to_its_published_name():
    assert SAMPLERS.find("rff") is SAMPLERS.find("rks") is SAMPLERS["rks"] is RKS
    assert SAMPLERS.find_published_name("rff") == "rks"
    assert "rff" not in SAMPLERS


@pytest.mark.parametrize(
    ("known", "wrong", "near"),
    [(SAMPLERS, "erf", "eerf"), (SOLVERS, "rigde", "ridge"), (KERNELS, "gausian", "gaussian")],
)
def test_error_for_unknown_name_suggests_the_nearest_name(known, wrong, near):
    with pytest.raises(MethodError, match=f"'{wrong}'.*'{near}'"):
        known.find(wrong)


def test_names_are_accepted_as_papers_print_them():
    for name, shown in PRINTED.items():
        assert find_internal_name(shown) == find_internal_name(shown.upper()) == name
        if name in SAMPLERS:
            assert SAMPLERS.find(shown) is SAMPLERS[name]
    assert KERNELS.find_published_name("RKS") == "RKS"


def test_kernel_given_as_a_sampler_is_reported_as_a_kernel():
    with pytest.raises(MethodError, match="no sampler 'gaussian'.*gaussian is a kernel"):
        SAMPLERS.find("gaussian")
    with pytest.raises(MethodError, match="no kernel 'orf'.*orf is a sampler"):
        KERNELS.find("orf")
