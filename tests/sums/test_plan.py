"""A plan that travels to another process and back is the same plan, whose sums add up."""

import pickle
from functools import reduce
from operator import add

import numpy as np

from calibrant._core.border import as_problem
from calibrant.binning import EqualWidth
from calibrant.metrics.kinds import LogLoss
from calibrant.notions import ClassWise
from calibrant.sums import Plan, scan


def a_plan():
    return Plan(cells=((ClassWise(), EqualWidth(5)),), scores=(("nll", LogLoss().impossible_rows),), noise=True)


def test_sums_that_were_sent_by_another_process_add_up():
    rng = np.random.default_rng(0)
    prob, y = rng.dirichlet(np.ones(3), 60), rng.integers(0, 3, 60)
    plan, problem = a_plan(), as_problem(y, prob)
    there = pickle.loads(pickle.dumps(plan))
    parts = [scan(problem.at(rows), there, first=rows.start) for rows in (slice(0, 25), slice(25, 60))]
    sent = [pickle.loads(pickle.dumps(part)) for part in parts]
    assert reduce(add, sent).to_dict() == reduce(add, parts).to_dict()


def test_rows_in_any_order_are_kept_by_their_own_numbers():
    rng = np.random.default_rng(1)
    prob, y = rng.dirichlet([0.1, 0.2, 0.3], 9000), rng.integers(0, 3, 9000)
    whole = scan(as_problem(y, prob), a_plan())
    order = rng.permutation(9000)
    parts = [scan(as_problem(y[rows], prob[rows]), whole.plan, first=rows) for rows in np.split(order, [10, 5000])]
    np.testing.assert_array_equal(reduce(add, parts).kept.number, whole.kept.number)
