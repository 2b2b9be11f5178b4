"""Every sampler keeps the promises of all, in each of the forms that its decorator names."""

import re
from dataclasses import replace

import pytest

from rfbench.checking import samplers as checks
from rfbench.checking.bias import CheckFailedError, measure_bias
from rfbench.checking.run import describe_kernel_result, list_causes_of_bias
from rfbench.registry import KERNELS, SAMPLERS
from rfbench.samplers.base import RandomFeatures
from rfbench.samplers.declaration import DOT_PRODUCTS, GAUSSIAN, CheckCase, sampler
from tests.samplers import contract
from tests.support import contracts
from tests.support.nightly import NIGHTLY, nightly


def subjects(registry):
    """Return each form of each sampler, by its name."""
    found = {}
    for cls in registry.values():
        declared = cls.declaration
        for form in declared.forms:
            name = "-".join((cls.__name__, *map(str, form.options.values())))
            assert name not in found, f"two forms of {cls.__name__} have one name"
            found[name] = checks.make_map_under_test(
                cls, form.options, kernels_served=declared.kernels, **form.contract
            )
    return found


SUBJECTS = subjects(SAMPLERS)
DAY_SEEDS = 200


BY_DAY = ("rks", "nystroem", "eerf", "lkrf", "swim", "fastfood")


def waits(subject, check):
    """Return True if a check of a form runs at night only.

    The checks of scikit-learn fit a form dozens of times. By day, they run on the first form of one
    class of each family. Pipelines are checked by day on the first form of each class, because
    their code is in the base class. All other checks run on each form.
    """
    first = subject.options == subject.thing.declaration.forms[0].options
    if check is contract.passes_the_checks_of_scikit_learn:
        return not (first and any(subject.thing is SAMPLERS[name] for name in BY_DAY))
    return check is contract.works_in_a_pipeline_with_frames_and_a_grid and not first


@contracts.every_check(
    SUBJECTS, [*checks.OF_EVERY_MAP, *checks.SAMPLER_CHECKS, *contract.CONTRACT.checks], waits
)
def test_sampler_passes_the_contract_checks(subject, check):
    if check is checks.another_seed_other_features and subject.options.get("scramble") is False:
        subject = replace(subject, options={**subject.options, "feature_map": "offset"})
        contracts.run_cases(check, [{}], subject)  # only the offsets are random
        return
    contracts.run_cases(check, contract.CONTRACT.cases(check), subject)
    if check in checks.OF_EVERY_MAP:
        paired = replace(subject, options={**subject.options, "feature_map": "paired"})
        contracts.run_cases(check, [{}], paired)


def combinations():
    """Yield the name of each sampler, kernel and map that is said to be without bias."""
    for name, subject in SUBJECTS.items():
        if subject.reason_for_no_claims:
            continue
        for number, claim in enumerate(subject.list_kernel_claims()):
            by_day = claim.kernel.name == subject.kernels_served[0]
            label = f"{name}-{claim.kernel.name}-{claim.name}"
            yield pytest.param(subject, number, id=label, marks=() if by_day else nightly)


COMBINATIONS = list(combinations())
assert len(COMBINATIONS) >= 99


@pytest.mark.parametrize(("subject", "number"), COMBINATIONS)
def test_sampler_has_its_declared_kernel(subject, number):
    claim = subject.list_kernel_claims()[number]
    found = measure_bias(claim, most=None if NIGHTLY else DAY_SEEDS)
    assert not found.biased, [describe_kernel_result(claim, found), *list_causes_of_bias(found)]
    assert found.is_error_decreasing, describe_kernel_result(claim, found)


@sampler(
    "invented",
    kernels=GAUSSIAN,
    contract={"unbiased": False},
    forms=(CheckCase(), CheckCase({"bandwidth": 3.0}, {"float32_tolerance": 1e-2})),
)
class Invented(RandomFeatures):
    def _draw(self, X, targets, random):
        return self.draw_unit_map(random, X.shape[1], self.n_components)


def test_contract_checks_use_the_declaration_of_the_decorator():
    forms = subjects({"invented": Invented})
    assert list(forms) == ["Invented", "Invented-3.0"]
    plain, wide = forms.values()
    assert (plain.kernels_served, plain.options, wide.options) == (GAUSSIAN, {}, {"bandwidth": 3.0})
    assert (plain.float32_tolerance, wide.float32_tolerance) == (1e-3, 1e-2)
    checks.serves_its_kernels_with_the_columns_asked_for(plain)
    assert "are biased" in plain.reason_for_no_claims
    assert replace(plain, unbiased=True).reason_for_no_claims == ""
    assert [claim.name for claim in plain.list_kernel_claims()] == ["offset", "paired"] * 2


def test_declaration_restricts_the_supported_kernels():
    class Undeclared(Invented):
        pass

    served = [name for name, kernel in KERNELS.items() if Invented.serves(kernel)]
    assert served == list(GAUSSIAN)
    waves = [kernel for name, kernel in KERNELS.items() if name not in DOT_PRODUCTS]
    assert all(Undeclared.serves(kernel) for kernel in waves)


def test_sampler_that_supports_undeclared_kernels_fails_its_check():
    class Wide(Invented):
        declaration = Invented.declaration

        @classmethod
        def serves(cls, kernel):
            return True

    with pytest.raises(CheckFailedError, match="not rejected: no error is raised"):
        checks.serves_its_kernels_with_the_columns_asked_for(subjects({"wide": Wide})["Wide"])
    advice = checks.serves_its_kernels_with_the_columns_asked_for.__doc__
    assert all(f"`{name}`" in advice for name in ("kernels", "kernels_served", "serves"))


CONTROLS = {"uniform-pool"}  # of rfbench itself; no paper has it


@pytest.mark.parametrize("name", sorted(SAMPLERS.keys() - CONTROLS))
def test_docstring_names_the_source_under_references(name):
    assert re.search(r"^    References\n    -+\n    \w", SAMPLERS[name].__doc__, re.MULTILINE)
