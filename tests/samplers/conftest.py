import pytest

from rfbench.registry import SAMPLERS
from tests.support.nightly import nightly

pytest.register_assert_rewrite(f"{__package__}.unbiased")

OF_THE_CLASS = (
    "test_passes_the_checks_of_scikit_learn",
    "test_works_in_a_pipeline_with_frames_and_a_grid",
)
OVER_SEEDS = (
    "test_the_mean_over_seeds_is_the_kernel",
    "test_the_error_of_the_kernel_falls_with_M",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to the night what the contract says of each kernel and form, but for one of them.

    By day the laws over seeds are those of the first kernel of a method, and of every kernel of
    rks, from which the others have theirs. What is a matter of the class is tested in one form.
    """
    checked = set()
    for item in items:
        contract, name = getattr(item, "cls", None), getattr(item, "originalname", "")
        if not hasattr(contract, "kernels_served"):
            continue
        if name in OF_THE_CLASS:
            again = (name, contract.sampler) in checked
            checked.add((name, contract.sampler))
        else:
            again = (
                name in OVER_SEEDS
                and contract.sampler is not SAMPLERS["rks"]
                and item.callspec.params["kernel"] != contract.kernels_served[0]
            )
        if again:
            item.add_marker(nightly)
