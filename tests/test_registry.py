import pytest

from rfbench.errors import MethodError
from rfbench.registry import KERNELS, SAMPLERS, SOLVERS
from rfbench.samplers import RKS, RandomFeatures
from rfbench.solvers import Solver


def test_every_name_leads_to_a_class():
    assert all(issubclass(cls, RandomFeatures) for cls in SAMPLERS.values())
    assert all(issubclass(cls, Solver) for tasks in SOLVERS.values() for cls in tasks.values())
    assert {name: cls.name for name, cls in KERNELS.items()} == {name: name for name in KERNELS}


def test_a_thing_has_one_published_name_and_others():
    assert SAMPLERS.find("rff") is SAMPLERS.find("rks") is SAMPLERS["rks"] is RKS
    assert SAMPLERS.published("rff") == "rks"
    assert "rff" not in SAMPLERS


@pytest.mark.parametrize(
    ("known", "wrong", "near"),
    [(SAMPLERS, "erf", "eerf"), (SOLVERS, "rigde", "ridge"), (KERNELS, "gausian", "gaussian")],
)
def test_an_unknown_name_is_answered_with_the_nearest(known, wrong, near):
    with pytest.raises(MethodError, match=f"'{wrong}'.*'{near}'"):
        known.find(wrong)
