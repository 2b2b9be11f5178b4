"""Every sampler keeps the promises of all, in each of the forms that its decorator names."""

import pytest

from rfbench import samplers
from rfbench.checking import samplers as contract
from rfbench.checking.promises import CheckFailed
from rfbench.registry import SAMPLERS
from rfbench.samplers.base import RandomFeatures
from rfbench.samplers.declaration import GAUSSIAN, Form, sampler
from tests.support import contracts
from tests.support.nightly import NIGHTLY


def subjects(registry):
    """Return each form of each sampler, by its name."""
    found = {}
    for cls in registry.values():
        declared = cls.declaration
        for form in declared.forms:
            name = "-".join((cls.__name__, *map(str, form.options.values())))
            assert name not in found, f"two forms of {cls.__name__} have one name"
            differs = {**declared.contract, **form.contract}
            found[name] = contract.SamplerSubject(cls, form.options, declared.kernels, **differs)
    return found


SUBJECTS = subjects(SAMPLERS)


def at_night(subject, check):
    """By day the checks of scikit-learn run on the first form of each class."""
    first = subject.thing.declaration.forms[0].options
    return check is contract.passes_the_checks_of_scikit_learn and subject.options != first


def by_day(subject, case):
    """By day the kernel of a form is its first; of plain features each kernel is looked at."""
    served = subject.kernels_served
    return case.get("kernel") in (None, served[0]) or subject.thing is samplers.RKS


@contracts.every_check(SUBJECTS, contract.CONTRACT, at_night)
def test_a_sampler_keeps_its_promise(subject, check):
    cases = contract.CONTRACT.cases(check)
    if check is contract.the_mean_over_seeds_is_the_kernel and not NIGHTLY:
        cases = [case for case in cases if by_day(subject, case)]
    contracts.run_cases(check, cases, subject)


@sampler(
    "invented",
    kernels=GAUSSIAN,
    contract={"sizes": (1, 2)},
    forms=(Form(), Form({"bandwidth": 3.0}, {"float32_tolerance": 1e-3})),
)
class Invented(RandomFeatures):
    def _draw(self, X, targets, random):
        return self.draw_unit_map(random, X.shape[1], self.n_components)


def test_the_checks_are_those_that_a_decorator_says():
    forms = subjects({"invented": Invented})
    assert list(forms) == ["Invented", "Invented-3.0"]
    plain, wide = forms.values()
    assert (plain.sizes, plain.options, wide.options) == ((1, 2), {}, {"bandwidth": 3.0})
    assert (plain.float32_tolerance, wide.float32_tolerance) == (1e-4, 1e-3)
    for subject in plain, wide:
        contract.has_exactly_the_columns_asked_for(subject, "paired")
        contract.serves_a_kernel_or_refuses_it_without_data(subject, "gaussian")
    # It says that it serves the Gaussian kernels alone, and its class serves every one.
    with pytest.raises(CheckFailed, match="no MethodError is raised"):
        contract.serves_a_kernel_or_refuses_it_without_data(plain, "laplacian")
