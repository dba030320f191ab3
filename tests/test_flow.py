"""`make flow` shows the functions that a task passes through, from the public method down to the lowest layer."""

from benchmarks import flow


def test_every_walk_is_recorded():
    walks = flow.walks()
    names = {name: {function for _, function in walk.functions} for name, walk in walks.items()}
    assert any(function.endswith(".partial_fit") for function in names["partial_fit"])
    assert any(function.endswith(".coef_") for function in names["coef_"])
    assert {"open", "Store.absorb_table"} <= names["store"]
    assert any(file.startswith("kernels/") for file in walks["partial_fit"].files)
    assert not any("<" in function.replace("<locals>", "") for found in names.values() for function in found)
