"""Verdicts on the survey, each judge with a case on both sides."""

import pytest

from studies.claims import Verdict, on_several
from studies.survey import cases, claims
from studies.survey.cases import lower, lower_in_each, near_in_each
from studies.survey.claims import CLAIMS
from studies.survey.claims_methods import balanced, class_3_not_as_bad, worse_elsewhere

HOLDS, IN_PART, FAILS, OPEN = Verdict.HOLDS, Verdict.IN_PART, Verdict.FAILS, Verdict.OPEN
BY_KEY = {claim.key: claim for claim in CLAIMS}


def draws(mean, spread=0.001):
    """Twenty figures with a mean and a small spread."""
    return [mean + spread * (-1) ** i for i in range(20)]


WIDE = draws(0.5, 10.0)

# Calibrators of two classes


@pytest.mark.parametrize(("after", "verdict"), [(draws(0.05), HOLDS), (draws(0.15), FAILS), (draws(0.1, 5.0), OPEN)])
def test_an_error_falls_where_the_draws_say_so_clearly(after, verdict):
    assert cases.falls(0.1, after) is verdict
    assert cases.rises(0.1, after) is {HOLDS: FAILS, FAILS: HOLDS, OPEN: OPEN}[verdict]


@pytest.mark.parametrize(
    ("after", "verdict"), [(draws(0.02), HOLDS), (draws(0.05), IN_PART), (draws(0.15), FAILS), (draws(0.03, 1.0), OPEN)]
)
def test_a_method_works_well_where_little_of_the_error_is_left(after, verdict):
    assert cases.works_well(0.1, after) is verdict


@pytest.mark.parametrize(("after", "verdict"), [(draws(0.09), HOLDS), (draws(0.05), FAILS), (draws(0.075, 1.0), OPEN)])
def test_a_method_does_little_where_most_of_the_error_is_left(after, verdict):
    assert cases.does_little(0.1, after) is verdict


@pytest.mark.parametrize(("second", "verdict"), [(draws(0.05), HOLDS), (draws(0.15), IN_PART), (draws(0.1, 5.0), OPEN)])
def test_cases_are_judged_together(second, verdict):
    both = {"one": {"before": 0.1, "after": draws(0.05)}, "other": {"before": 0.1, "after": second}}
    assert cases.in_each(cases.falls)(both) is verdict


@pytest.mark.parametrize(
    ("counts", "few", "many"),
    [
        ({"under-confident": [8, 8], "over-confident": [10, 10]}, HOLDS, FAILS),
        ({"under-confident": [10, 8], "over-confident": [10, 10]}, FAILS, FAILS),
        ({"under-confident": [8, 8], "over-confident": [10, 11]}, FAILS, FAILS),
        ({"under-confident": [40, 50], "over-confident": [41, 11]}, FAILS, HOLDS),
    ],
)
def test_values_are_counted_in_every_calibration_set(counts, few, many):
    assert cases.few_values(counts, 10) is few
    assert cases.many_values(counts, 10) is many


@pytest.mark.parametrize(("after", "near", "verdict"), [(0.05, 0.9, HOLDS), (0.05, 0.4, IN_PART), (0.15, 0.4, FAILS)])
def test_points_are_on_the_diagonal_where_the_error_falls_and_most_are_close(after, near, verdict):
    assert cases.on_the_diagonal(0.1, draws(after), draws(near)) is verdict


@pytest.mark.parametrize(
    ("calibration", "grouping", "verdict"), [(0.5, 2.0, HOLDS), (0.5, 0.5, IN_PART), (2.0, 0.5, FAILS)]
)
def test_binning_trades_calibration_for_grouping(calibration, grouping, verdict):
    before = {"calibration": 1.0, "grouping": 1.0}
    assert cases.traded(before, {"calibration": draws(calibration), "grouping": draws(grouping)}) is verdict


@pytest.mark.parametrize(("here", "verdict"), [(0.2, HOLDS), (0.05, FAILS)])
def test_errors_remain_about_the_middle(here, verdict):
    assert BY_KEY["isotonic-middle-left"].judge(here=draws(here), elsewhere=draws(0.1)) is verdict
    assert BY_KEY["isotonic-middle-right"].judge(here=WIDE, elsewhere=draws(0.1)) is OPEN


@pytest.mark.parametrize(("best", "verdict"), [(2.0, HOLDS), (0.5, FAILS)])
def test_the_loss_of_the_best_monotone_map_is_large_where_it_is_above_that_of_the_model(best, verdict):
    one = {"moved": 0.1, "best": best, "own": 1.0, "after": [1.0, 1.1]}
    judge = BY_KEY["isotonic-not-monotone"].judge
    assert judge([one, one]) is verdict
    assert judge([one]) is OPEN


@pytest.mark.parametrize(("zero", "one", "verdict"), [(1.0, 0.1, HOLDS), (0.0, 1.0, FAILS), (1.0, 0.0, FAILS)])
def test_both_ends_can_have_full_confidence(zero, one, verdict):
    assert cases.full_confidence(zero, one) is verdict


@pytest.mark.parametrize(("worse", "verdict"), [(2, HOLDS), (1, FAILS), (0, FAILS)])
def test_several_regions_are_two_or_more(worse, verdict):
    after = [draws(0.2)] * worse + [draws(0.05)] * (5 - worse)
    assert cases.worse_in_regions([0.1] * 5, after) is verdict


@pytest.mark.parametrize(
    ("key", "one", "other", "verdict"),
    [
        ("platt-under", 0.01, 0.01, HOLDS),
        ("platt-under", 0.01, 0.05, OPEN),
        ("beta-under", 0.05, 0.05, IN_PART),
        ("beta-under", 0.01, 0.05, OPEN),
        ("platt-over", 0.09, 0.09, HOLDS),
        ("platt-over", 0.05, 0.05, FAILS),
        ("platt-over", 0.05, 0.09, OPEN),
    ],
)
def test_what_is_left_must_agree_between_measures(key, one, other, verdict):
    found = {name: {"before": 0.1, "after": draws(of)} for name, of in (("one", one), ("other", other))}
    assert BY_KEY[key].judge(found) is verdict


def test_a_comparison_without_a_measure_is_undecided():
    assert BY_KEY["beta-over-high"].judge({"before": {"before": 0.1, "after": draws(0.05)}}) is OPEN


@pytest.mark.parametrize(("apart", "verdict"), [(0.001, HOLDS), (0.05, FAILS)])
def test_predictions_are_almost_the_same(apart, verdict):
    assert cases.almost_the_same(draws(apart)) is verdict


@pytest.mark.parametrize(("change", "verdict"), [(1e-16, HOLDS), (1e-6, FAILS)])
def test_an_identity_changes_nothing(change, verdict):
    assert cases.identity(change, 1e-12) is verdict


@pytest.mark.parametrize(("share", "verdict"), [(1e-6, HOLDS), (0.5, FAILS)])
def test_a_range_is_barely_left(share, verdict):
    assert cases.outside({"variance": share, "standard deviation": 0.8}, 0.01) is verdict


@pytest.mark.parametrize(("lost", "verdict"), [(0.001, HOLDS), (0.05, FAILS)])
def test_a_boundary_is_nearly_optimal(lost, verdict):
    assert BY_KEY["boundary"].judge(lost=lost, best=0.7) is verdict


@pytest.mark.parametrize(("under", "over", "verdict"), [(2.0, 0.5, HOLDS), (0.9, 0.5, FAILS), (2.0, 1.5, FAILS)])
def test_slopes_are_on_either_side_of_one(under, over, verdict):
    assert BY_KEY["fig-12-slopes"].judge(under=under, over=over) is verdict


@pytest.mark.parametrize(("beta", "verdict"), [(0.05, HOLDS), (0.2, FAILS)])
def test_beta_calibration_is_compared_with_platt_scaling_of_probabilities(beta, verdict):
    assert BY_KEY["beta-over-low"].judge(before=0.3, beta=draws(beta), platt=draws(0.1)) is verdict
    numbers = {"beta": draws(beta), "platt": draws(0.1), "platt_log_odds": draws(0.0)}
    assert BY_KEY["beta-calibrated"].judge(**numbers) is verdict


@pytest.mark.parametrize(
    "key",
    [
        "log-odds-under",
        "log-odds-over",
        "log-odds-network",
        "isotonic-cost",
        "fig-12-network",
        "dirichlet-calibrated",
        "table-1",
        "platt-over-cause",
    ],
)
def test_what_the_survey_did_not_run_or_does_not_measure_is_not_judged(key):
    assert BY_KEY[key].says is Verdict.NOT_JUDGED


# Networks, and the two worlds of class 3


def one(after):
    return {"before": 0.1, "after": draws(after)}


@pytest.mark.parametrize(
    ("networks", "verdict"),
    [
        ([one(0.05)], OPEN),
        ([one(0.05), one(0.06)], HOLDS),
        ([one(0.2), one(0.3)], FAILS),
        ([one(0.05), one(0.2)], OPEN),
    ],
)
def test_one_network_decides_nothing_and_several_must_agree(networks, verdict):
    assert on_several(cases.falls)(networks) is verdict


@pytest.mark.parametrize(
    ("other", "verdict"), [([], OPEN), ([one(0.05)], OPEN), ([one(0.05)] * 2, HOLDS), ([one(0.2)] * 2, OPEN)]
)
def test_both_worlds_of_class_3_must_say_the_same(other, verdict):
    worlds = {"variance": [one(0.05), one(0.06)], "standard deviation": other}
    assert cases.in_both_worlds(cases.falls)(worlds) is verdict


def test_every_sentence_about_networks_is_undecided():
    rests_on_networks = [c for c in CLAIMS if {"network", "networks"} & set(c.target.replace(",", "").split())]
    assert len(rests_on_networks) > 15
    assert {c.says for c in rests_on_networks} <= {OPEN, Verdict.NOT_JUDGED}


@pytest.mark.parametrize(
    ("variance", "deviation", "verdict"),
    [(0.91, 0.78, HOLDS), (0.80, 0.78, HOLDS), (0.80, 0.95, FAILS)],
)
def test_a_cap_is_judged_on_the_reading_that_the_sentence_picks(variance, deviation, verdict):
    highest = {
        w: {"bayes": v, "networks": [v, v]} for w, v in (("variance", variance), ("standard deviation", deviation))
    }
    assert cases.capped(highest, 0.75, 0.85) is verdict
    mixed = {"variance": {"bayes": 0.8, "networks": [0.9]}, "standard deviation": {"bayes": 0.8, "networks": [0.9]}}
    assert cases.capped(mixed, 0.75, 0.85) is IN_PART


@pytest.mark.parametrize(("worse", "verdict"), [(4, HOLDS), (1, IN_PART), (0, FAILS)])
def test_worse_elsewhere_is_worse_in_most_regions(worse, verdict):
    assert worse_elsewhere([0.1] * 7, [draws(0.2)] * worse + [draws(0.05)] * (7 - worse)) is verdict


@pytest.mark.parametrize(
    ("temperature", "vector", "verdict"), [(0.3, 0.2, HOLDS), (0.05, 0.02, IN_PART), (0.05, 0.08, FAILS)]
)
def test_class_3_is_not_as_bad_only_where_temperature_scaling_makes_it_bad(temperature, vector, verdict):
    assert class_3_not_as_bad(0.1, draws(temperature), draws(vector)) is verdict


@pytest.mark.parametrize(("few", "many", "verdict"), [(0.1, 0.1, HOLDS), (0.1, 0.5, IN_PART), (0.5, 0.5, FAILS)])
def test_a_method_is_balanced_where_it_wins_on_few_rows_and_on_many(few, many, verdict):
    assert balanced(draws(few), draws(0.3), draws(many), draws(0.3)) is verdict


@pytest.mark.parametrize(("value", "verdict"), [(0.1, HOLDS), (0.5, FAILS)])
def test_two_methods_are_compared_by_pairs(value, verdict):
    assert lower(draws(value), draws(0.3)) is verdict
    assert lower_in_each({"class 1": [draws(value), draws(0.3)], "class 2": [draws(value), draws(0.3)]}) is verdict
    assert lower_in_each({"class 1": [draws(0.1), draws(0.3)], "class 2": [draws(0.5), draws(0.3)]}) is IN_PART


@pytest.mark.parametrize(("apart", "verdict"), [(0.001, HOLDS), (0.01, FAILS), (-0.01, FAILS)])
def test_diagrams_are_close_where_each_class_is(apart, verdict):
    assert near_in_each({"class 1": [draws(0.1), draws(0.1)], "class 2": [draws(0.1 + apart), draws(0.1)]}) is verdict


@pytest.mark.parametrize(
    ("key", "numbers", "verdict"),
    [
        ("matrix-overfits", (0.5, 0.1), HOLDS),
        ("matrix-overfits", (0.1, 0.5), FAILS),
        ("odir", (0.1, 0.5), HOLDS),
        ("odir", (0.5, 0.1), FAILS),
    ],
)
def test_few_rows_show_what_over_fits(key, numbers, verdict):
    network = dict(zip(("one", "other"), map(draws, numbers), strict=True))
    worlds = {"variance": [network] * 2, "standard deviation": [network] * 2}
    assert BY_KEY[key].judge(worlds) is verdict


# Printed figures


@pytest.mark.parametrize(
    ("exact", "printed", "entries", "verdict"),
    [
        ("107/315", "0.34", None, HOLDS),
        ("169/900", "0.1873", 5.62 / 30, IN_PART),
        ("169/900", "0.1873", None, FAILS),
        ("169/900", "0.1873", 0.2, FAILS),
        ("29/40", "0.72", None, HOLDS),
        ("29/40", "0.73", None, HOLDS),
        ("29/40", "0.74", None, FAILS),
        ("25.3004", "25.3", None, HOLDS),
        ("50.6", "25.3", None, FAILS),
    ],
)
def test_a_printed_figure_is_an_exact_value_rounded(exact, printed, entries, verdict):
    assert cases.as_printed(exact, printed, entries) is verdict


@pytest.mark.parametrize(("off", "verdict"), [([], HOLDS), (["a"], IN_PART), (["a", "b", "c"], FAILS)])
def test_a_table_holds_where_all_entries_do(off, verdict):
    assert cases.entries_as_printed(off, 3) is verdict


@pytest.mark.parametrize(("pvalue", "verdict"), [(0.012, HOLDS), (0.016, HOLDS), (0.05, FAILS), (0.001, FAILS)])
def test_a_printed_p_value_is_one_that_a_run_of_1000_gives(pvalue, verdict):
    assert claims.one_run(pvalue, 20_000, 0.016) is verdict


@pytest.mark.parametrize(("over", "verdict"), [(["20 to 29 %", "30 to 39 %"], HOLDS), (["20 to 29 %"], FAILS)])
def test_over_estimates_are_those_of_two_classes(over, verdict):
    assert BY_KEY["table-1-signs"].judge(over=over) is verdict


@pytest.mark.parametrize(
    ("class_wise", "confidence", "verdict"), [("0", "1/40", HOLDS), ("1/40", "1/40", FAILS), ("0", "0", FAILS)]
)
def test_class_wise_calibration_is_separated_from_confidence(class_wise, confidence, verdict):
    assert claims.separates(class_wise, confidence) is verdict


def test_tables_are_measured_in_seconds_and_bear_out_the_page():
    for claim in (*claims.OF_TABLES, *claims.OF_TESTS):
        if claim.key != "resampling":
            assert claim.judged(claim.measure()).verdict is claim.says, claim.key


def test_shares_outside_exclude_standard_deviations_of_the_classes_1_and_2():
    shares = claims.shares_outside()["shares"]
    assert shares["variance"] < 1e-5
    assert 0.8 < shares["standard deviation"] < 0.9
