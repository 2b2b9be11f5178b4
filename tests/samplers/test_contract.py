"""Every sampler keeps the contract of all, in each of the forms that its decorator names."""

from functools import partial

import pytest

from rfbench import samplers
from rfbench.errors import MethodError
from rfbench.registry import SAMPLERS, Registry, decorated
from rfbench.testing.samplers import SamplerContract


def contracts(registry):
    """Return a class of tests for each form of each sampler, by the class's name."""
    classes = {}
    for cls in registry.values():
        declared = cls.declaration
        for form in declared.forms:
            name = "-".join((f"Test{cls.__name__}", *map(str, form.options.values())))
            differs = {**declared.contract, **form.contract}
            assert differs.keys() <= vars(SamplerContract).keys(), f"{name}: {differs}"
            own = {"sampler": cls, "kernels_served": declared.kernels, "options": form.options}
            assert name not in classes, f"two forms of {cls.__name__} have one name"
            classes[name] = type(name, (SamplerContract,), own | differs)
    return classes


globals().update(contracts(SAMPLERS))


INVENTED = """
from rfbench.samplers.base import RandomFeatures
from rfbench.samplers.declaration import GAUSSIAN, Form, sampler


@sampler(
    "invented",
    position=99,
    aliases=("made-up",),
    kernels=GAUSSIAN,
    about="plain features",
    labels={"invented-wide": "the same, wider"},
    verified="closed form: nothing",
    contract={"sizes": (1, 2)},
    forms=(Form(), Form({"bandwidth": 3.0}, {"float32_tolerance": 1e-3})),
)
class Invented(RandomFeatures):
    def _draw(self, X, targets, random):
        return self.draw_unit_map(random, X.shape[1], self.n_components)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder whose files are modules of `rfbench.samplers`."""
    monkeypatch.setattr(samplers, "__path__", [*samplers.__path__, str(tmp_path)])
    return tmp_path


def registry(folder):
    return Registry("sampler", partial(decorated, "sampler", folder, "rfbench.samplers"))


def test_a_file_with_a_decorated_class_is_all_that_a_sampler_needs(folder):
    (folder / "invented_file.py").write_text(INVENTED)
    found = registry(folder)
    assert list(found) == ["invented"]
    assert found.published("made-up") == "invented"
    (entry,) = found.entries.values()
    assert entry.about == "plain features"
    assert entry.labels == {"invented-wide": "the same, wider"}
    cls = found.find("made-up")
    assert found.of_module("rfbench.samplers", "Invented") is cls
    assert cls(7, bandwidth=2.0).n_components == 7
    plain, wide = contracts(found).values()
    assert (plain.__name__, wide.__name__) == ("TestInvented", "TestInvented-3.0")
    assert (plain.sizes, plain.options, wide.options) == ((1, 2), {}, {"bandwidth": 3.0})
    assert (plain.float32_tolerance, wide.float32_tolerance) == (1e-4, 1e-3)
    for test in plain(), wide():
        test.test_has_exactly_the_columns_asked_for("paired")
        test.test_serves_a_kernel_or_refuses_it_without_data("gaussian")
    # It says that it serves the Gaussian kernels alone, and its class serves every one.
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        plain().test_serves_a_kernel_or_refuses_it_without_data("laplacian")


def test_the_files_of_a_folder_are_read_in_the_order_of_their_positions(folder):
    for file, name, position in (("a", "late", 3), ("b", "early", 1), ("c", "middle", 2)):
        text = INVENTED.replace('"invented"', f'"{name}"').replace("99", str(position))
        (folder / f"{file}.py").write_text(text.replace("made-up", file))
    assert list(registry(folder)) == ["early", "middle", "late"]
    positions = [entry.position for entry in SAMPLERS.entries.values()]
    after = f"the next position is {max(positions) + 1}"
    assert sorted(set(positions)) == positions, after


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"invented",', "NAME,", "not written out"),
        ("position=99", "position=1 + 1", "not written out"),
        ('"invented",\n', '"other",\n', "stands for another class"),
    ],
)
def test_a_decorator_that_cannot_be_read_is_named_with_its_class(folder, old, new, why):
    (folder / "first.py").write_text(INVENTED)
    (folder / "second.py").write_text(INVENTED.replace(old, new))
    with pytest.raises(MethodError, match=rf"samplers\.second\.Invented.*{why}"):
        list(registry(folder))
