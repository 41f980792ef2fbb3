"""Cells of a tree of splits."""

import numpy as np
import pytest

from calibrant.binning import SplitTree

INNER = np.array([0.3, 0.3, 0.4])
TREE = SplitTree(
    np.array([INNER, [0.6, 0.2, 0.2]]), np.array([[1, 2, -1], [3, -1, 4]]), np.array([0, 1, -1, -1, -1], dtype=np.int64)
)


def walked(p, tree, n_splits):
    """The definition, a forecast at a time."""
    node = 0
    while 0 <= tree.split[node] < n_splits:
        s = tree.split[node]
        sides = [k for k in range(len(p)) if tree.child[s, k] >= 0]
        node = tree.child[s, max(sides, key=lambda k: (p[k] - tree.gamma[s, k], -k))]
    return node


def test_a_walk_follows_the_largest_difference():
    prob = np.vstack([np.random.default_rng(0).dirichlet(np.ones(3), 200), np.eye(3), INNER])
    for n_splits in range(3):
        assert TREE.nodes(prob, n_splits).tolist() == [walked(p, TREE, n_splits) for p in prob.tolist()]
    np.testing.assert_array_equal(TREE.nodes(prob), TREE.nodes(prob, 2))
    assert [TREE.leaves(n).tolist() for n in range(3)] == [[0], [1, 2], [2, 3, 4]]
    assert set(TREE.index(prob).tolist()) == {0, 1, 2}
    np.testing.assert_array_equal(TREE.leaves()[TREE.index(prob)], TREE.nodes(prob))


def test_equal_differences_go_to_the_first_side():
    assert TREE.nodes(INNER[None], 1).tolist() == [1]


def test_what_falls_on_a_side_that_held_no_row_goes_to_the_next():
    assert TREE.nodes(np.array([[0.1, 0.2, 0.7], [0.2, 0.1, 0.7]]), 1).tolist() == [2, 1]


def test_stages_are_the_nodes_after_each_split():
    prob = np.random.default_rng(1).dirichlet(np.ones(3), 100)
    found = list(TREE.stages(prob))
    assert len(found) == 3
    for n_splits, node in enumerate(found):
        np.testing.assert_array_equal(node, TREE.nodes(prob, n_splits))


def test_leaves_add_up_to_nodes():
    assert TREE.up(np.array([1, 2, 4])).tolist() == [7, 6, 1, 2, 4]
    assert TREE.up(np.array([[1.0, 0.5], [2.0, 0.5], [4.0, 0.5]]))[0].tolist() == [7.0, 1.5]
    assert TREE.parent.tolist() == [0, 1]
    assert TREE.n_regions.tolist() == [1, 2, 3]


def test_no_splits_are_one_cell():
    tree = SplitTree(np.empty(0), np.empty(0, dtype=np.int64), np.array([-1]))
    assert tree.n_cells == 1
    assert tree.index(np.eye(3)).tolist() == [0, 0, 0]
    assert tree.n_regions.tolist() == [1]
    assert [node.tolist() for node in tree.stages(np.eye(2))] == [[0, 0]]


@pytest.mark.parametrize(
    "parts",
    [
        {"gamma": [[0.3, 0.3, np.nan], [0.6, 0.2, 0.2]]},
        {"gamma": [[0.3, 0.7], [0.6, 0.4]]},
        {"child": [[1, 2, -1], [3, -1, 9]]},
        {"child": [[1, 2, -1], [-1, -1, -1]]},
        {"child": [[3, 4, -1], [1, 2, -1]]},
        {"split": [0, 0, -1, -1, -1]},
        {"split": [0, -1, -1, 1, -1]},
        {"split": [0, 1, -1, -1]},
        {"split": [[0, 1, -1, -1, -1]]},
    ],
)
def test_what_is_no_tree_is_refused(parts):
    whole = {"gamma": TREE.gamma, "child": TREE.child, "split": TREE.split} | {
        name: np.array(part) for name, part in parts.items()
    }
    with pytest.raises(ValueError, match="must make a tree"):
        SplitTree(**whole)


def test_numbers_that_are_not_whole_and_columns_that_are_not_there_are_refused():
    with pytest.raises(TypeError, match="child must hold whole numbers"):
        SplitTree(TREE.gamma, TREE.child + 0.5, TREE.split)
    with pytest.raises(ValueError, match="prob must have 3 columns, as splits have; got 2"):
        TREE.nodes(np.eye(2))
