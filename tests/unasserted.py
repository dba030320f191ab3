"""A test that checks nothing: no mutant is killed by it. Pytest collects it by name only."""

from ridgeway.research.theory import FixedDesignProblem, pooling_gain


def test_nothing():
    problem = FixedDesignProblem([[[2.0]], [[1.0]]], signal=[0.0], task_coefs=[[0.0], [1.0]])
    pooling_gain(problem)
