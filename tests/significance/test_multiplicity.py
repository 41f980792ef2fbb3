"""One test for each class or group: adjusted p-values, and what is passed to the test."""

import re
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import multiplicity as reference

from calibrant import hosmer_lemeshow_test, load_digits_forecast, spiegelhalter_test
from calibrant.significance import by_class, by_group, kolmogorov_smirnov_test, resampling_test
from calibrant.significance.result import adjusted_pvalues

METHODS = {
    "bonferroni": reference.bonferroni,
    "holm": reference.holm,
    "benjamini-hochberg": reference.benjamini_hochberg,
    "benjamini-yekutieli": reference.benjamini_yekutieli,
}
pvalues = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.05, 1.0])), min_size=1, max_size=6)


@pytest.mark.parametrize("method", METHODS)
@given(p=pvalues)
def test_adjusted_pvalues_are_their_definition(method, p):
    np.testing.assert_allclose(adjusted_pvalues(np.array(p), method), METHODS[method](p), rtol=1e-12, atol=1e-300)


def test_each_class_is_tested_against_the_rest():
    y, prob = load_digits_forecast()
    found = by_class(kolmogorov_smirnov_test, y, prob)
    assert found.names == tuple(f"class {j}" for j in range(10))
    for j in range(10):
        assert found[f"class {j}"].pvalue == kolmogorov_smirnov_test(y == j, prob[:, j]).pvalue
    np.testing.assert_allclose(found.adjusted, adjusted_pvalues(found.pvalues, "holm"))


def test_each_predicted_class_is_tested_on_its_rows():
    y, prob = load_digits_forecast()
    found = by_class(spiegelhalter_test, y, prob, notion="top-label")
    rows = prob.argmax(axis=1) == 3
    assert found["predicted 3"].statistic == spiegelhalter_test(y[rows] == 3, prob[rows, 3]).statistic


def test_a_class_that_is_never_predicted_is_left_out():
    prob = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.5, 0.4, 0.1]])
    assert by_class(spiegelhalter_test, [0, 1, 1], prob, notion="top-label").names == ("predicted 0", "predicted 1")


def test_each_group_is_tested_on_its_rows():
    y, prob = load_digits_forecast()
    group = np.where(np.arange(len(y)) % 3 == 0, "north", "south")
    found = by_group(partial(resampling_test, metric="ece", n_resamples=49), y, prob, group)
    assert found.names == ("north", "south")
    rows = group == "south"
    alone = resampling_test(y[rows], prob[rows], metric="ece", n_resamples=49)
    assert found["south"].pvalue == alone.pvalue


@pytest.mark.filterwarnings("ignore:the chi-squared law needs expected counts")
def test_groups_keep_classes_logits_and_weights():
    rng = np.random.default_rng(0)
    logit, y = rng.normal(size=(60, 3)), rng.choice(["a", "b", "c"], 60)
    weight, group = rng.integers(0, 3, 60), rng.integers(0, 2, 60)
    options = {"labels": ["a", "b", "c"], "input": "logit"}
    found = by_group(
        partial(hosmer_lemeshow_test, n_bins=3, reference="b"), y, logit, group, sample_weight=weight, **options
    )
    rows = (group == 1) & (weight > 0)
    alone = hosmer_lemeshow_test(y[rows], logit[rows], n_bins=3, reference="b", sample_weight=weight[rows], **options)
    assert found["1"].statistic == alone.statistic
    column = by_group(spiegelhalter_test, y == "a", logit[:, 0], group, input="logit", sample_weight=weight)
    alone = spiegelhalter_test(y[rows] == "a", logit[rows, 0], input="logit", sample_weight=weight[rows])
    assert column["1"].statistic == alone.statistic


def test_what_is_rejected_is_named():
    rng = np.random.default_rng(0)
    p, group = rng.random(900), np.repeat(["fair", "harsh", "mild"], 300)
    rate = np.where(group == "harsh", p**2, p)
    found = by_group(kolmogorov_smirnov_test, rng.random(900) < rate, p, group)
    assert found.rejected() == ("harsh",)
    assert found.rejected(level=1.0) == ("fair", "harsh", "mild")
    assert repr(found).startswith("MultipleTests(3 tests, holm, smallest adjusted p-value ")


@pytest.mark.parametrize("method", ["holm", "bonferroni", "benjamini-hochberg", "benjamini-yekutieli"])
def test_a_level_that_the_draws_cannot_reach_is_refused_with_the_number_that_can(method):
    p = np.random.default_rng(0).random(400)
    groups = np.arange(400) % 3

    def found(draws):
        test = partial(resampling_test, metric="ece", n_resamples=draws)
        return by_group(test, p < 0.5, p, groups, method=method)

    with pytest.raises(ValueError, match=r"level must be one that the draws can reach; got 0\.01") as told:
        found(19).rejected(0.01)
    needed = int(re.search(r"n_resamples=(\d+)", str(told.value))[1])
    assert found(needed).rejected(0.01) == ("0", "1", "2")
    with pytest.raises(ValueError, match="can reach"):
        found(needed - 1).rejected(0.01)
    assert by_group(spiegelhalter_test, p < 0.5, p, groups, method=method).rejected(1e-12) == ("0", "1", "2")
