"""What is exported gives what ``calibrate`` gives, run in each language that is installed."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from calibrant import ByNotion, EvidenceScaling, PlattScaling, SafeCalibrator, TemperatureScaling, load_digits_forecast
from calibrant import calibrators as cal
from calibrant._core.arrays import EPSILON, score_of_logit
from calibrant.calibrators.base import BinaryCalibrator
from calibrant.calibrators.graphs import crossing
from calibrant.interop import export, load_calibrator, save_calibrator
from calibrant.interop.export import to_js, to_numpy, to_onnx, to_sql, to_torch
from calibrant.registry import entries
from tests.interop.languages import LANGUAGES, beside, by_numpy, by_onnx, extreme_rows, largest_slope, registered, rows

pytestmark = pytest.mark.filterwarnings(
    "ignore::calibrant.exceptions.CalibrationWarning",
    "ignore::sklearn.exceptions.ConvergenceWarning",
    "ignore:.*torch.jit:FutureWarning",
    "ignore:.*torch.jit:DeprecationWarning",
)

BOUND = {"numpy": 1e-15, **dict.fromkeys(["duckdb", "sqlite", "postgres", "onnx", "torch", "js"], 1e-13)}
"""Largest difference from ``calibrate``, beside which a step that is missed is 1e-3 or more."""


def fitted(calibrator, n_classes=1, input="probability", **options):
    label, X = rows(n_classes, input, **options)
    return calibrator.fit(X, label)


def query_of(calibrator, **options):
    """Return what it is in SQL; another dialect than the default needs sqlglot."""
    if "dialect" in options:
        pytest.importorskip("sqlglot")
    return to_sql(calibrator, **options)


def assert_same(language, calibrator, X, *, bound=None):
    expected, found = calibrator.calibrate(X), LANGUAGES[language](calibrator, X)
    bound = bound or BOUND[language] * largest_slope(calibrator)
    np.testing.assert_allclose(np.reshape(found, expected.shape), expected, rtol=0, atol=bound)


@pytest.mark.parametrize("word", sorted(entries("calibrator")))
@pytest.mark.parametrize(("n_classes", "input"), [(1, "probability"), (2, "logit"), (4, "probability")])
def test_every_registered_calibrator_is_the_same_in_numpy_source(word, n_classes, input):
    label, X = rows(n_classes, input)
    calibrator = registered(word, n_classes, input).fit(X, label)
    assert_same("numpy", calibrator, beside(calibrator, X))


@pytest.mark.parametrize("word", sorted(entries("calibrator")))
@pytest.mark.parametrize(("n_classes", "input"), [(1, "logit"), (1, "probability"), (2, "logit"), (4, "logit")])
def test_scores_beside_0_and_1_are_told_apart_as_calibrate_does(word, n_classes, input):
    label, X = extreme_rows(n_classes, input)
    assert_same("numpy", registered(word, n_classes, input).fit(X, label), X, bound=1e-13)


@pytest.mark.deep
@pytest.mark.parametrize("language", list(LANGUAGES)[1:])
@pytest.mark.parametrize(("n_classes", "input"), [(1, "logit"), (2, "probability"), (4, "logit"), (4, "probability")])
@pytest.mark.parametrize("word", sorted(entries("calibrator")))
def test_scores_beside_0_and_1_are_told_apart_in_every_language(word, n_classes, input, language):
    label, X = extreme_rows(n_classes, input, seed=1)
    assert_same(language, registered(word, n_classes, input).fit(X, label), X, bound=1e-8)  # a step is 1e-3


@pytest.mark.parametrize("right", [True, False])
def test_the_edge_of_log_odds_is_where_the_score_crosses(right):
    edges = np.array([0.0, 5e-324, 1e-300, 1e-12, 0.25, 0.5, 0.75, 1.0 - 1e-12, np.nextafter(1.0, 0.0), 1.0])
    found = crossing(edges, right=right)
    assert np.array_equal(np.abs(found) == 1e300, edges == (0.0 if right else 1.0))
    assert crossing(edges[[0 if right else -1]], right=right) == (-1e300 if right else 1e300)  # as among others
    inside = np.abs(found) < 1e300
    for step, is_passed in ((0.0, right), (-np.inf, False)) if right else ((0.0, False), (np.inf, True)):
        score = score_of_logit(np.nextafter(found, step) if step else found)[inside]
        assert ((score >= edges[inside]) if right else (score > edges[inside])).tolist() == [is_passed] * inside.sum()


@pytest.mark.deep
@pytest.mark.parametrize("language", list(LANGUAGES)[2:])
@pytest.mark.parametrize(("n_classes", "input"), [(1, "probability"), (1, "logit"), (2, "probability"), (4, "logit")])
@pytest.mark.parametrize("word", sorted(entries("calibrator")))
def test_every_registered_calibrator_is_the_same_in_every_language(word, n_classes, input, language):
    label, X = rows(n_classes, input, seed=1)
    calibrator = registered(word, n_classes, input).fit(X, label)
    assert_same(language, calibrator, beside(calibrator, X))


SOME = [(cal.IsotonicCalibration(), 1), (TemperatureScaling(), 4), (EvidenceScaling(), 2)]


@pytest.mark.parametrize("language", list(LANGUAGES)[2:])
@pytest.mark.parametrize(
    ("calibrator", "n_classes"), [*SOME, (ByNotion("histogram-binning", "confidence"), 4)], ids=repr
)
def test_some_calibrators_are_the_same_in_every_language(calibrator, n_classes, language):
    label, X = rows(n_classes, "probability", n=120)
    calibrator.fit(X, label)
    assert_same(language, calibrator, beside(calibrator, X))


@pytest.mark.parametrize("language", list(LANGUAGES))
def test_probabilities_far_below_the_clip_are_the_same_in_every_language(language):
    """Log-odds of clipped probabilities differ in their last digits, which the ranks of evidence scaling once told apart."""
    y, prob = load_digits_forecast()
    assert np.mean(prob[:, 3] < EPSILON) > 0.1
    calibrator = EvidenceScaling().fit(prob[:500, 3], y[:500] == 3)
    assert calibrator.floor_ == 0.0
    assert_same(language, calibrator, prob[:, 3], bound=1e-15 if language == "numpy" else 1e-9)
    clipped = calibrator.calibrate([EPSILON, EPSILON / 10, 1e-16, 0.0])
    np.testing.assert_allclose(clipped, clipped[0], rtol=0, atol=1e-9)


def test_a_map_of_one_score_is_constant_at_the_score_zero_too():
    assert_same("numpy", cal.IsotonicCalibration(interpolate=True).fit([0.5, 0.5], [1, 0]), np.array([0.0, 1.0]))


NOTIONS = ["class-wise", "confidence", "top-label", "top-2-label", "top-3-confidence", "flattened", "shared-class-wise"]


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("notion", [*NOTIONS, "one-vs-rest", "thresholded-class-wise"])
@pytest.mark.parametrize("input", ["probability", "logit"])
def test_every_notion_is_put_together_again(notion, normalize, input):
    label, X = rows(4, input)
    for word in ("isotonic", "platt"):
        assert_same("numpy", ByNotion(word, notion, normalize=normalize, input=input).fit(X, label), X)


PARTITIONS = ["grid", "projection", "recursive-split", "sierpinski-3", "unique"]
RISES = list(itertools.product(["last", "spread"], ["share", "column"]))
FORMS = [
    *[(cal.CanonicalBinning(binning), 3, "probability") for binning in PARTITIONS],
    *[(cal.SortedCumulativeIsotonic(rise=rise, ties=ties), 4, "probability") for rise, ties in RISES],
    *[(EvidenceScaling(keep=keep, input="logit"), 4, "logit") for keep in (None, "argmax", "order")],
    (EvidenceScaling(), 2, "probability"),
    (EvidenceScaling(keep="order", input="logit"), 2, "logit"),
    *[(EvidenceScaling(input="logit"), n_classes, "logit") for n_classes in (51, 151)],
]


@pytest.mark.parametrize(("calibrator", "n_classes", "input"), FORMS, ids=repr)
def test_every_form_of_a_calibrator_is_printed(calibrator, n_classes, input):
    label, X = rows(n_classes, input)
    even = np.full((1, n_classes), 1.0 / n_classes)
    # Some rows are in cells that no row was fitted in, or tie.
    assert_same("numpy", calibrator.fit(X[:150], label[:150]), np.vstack([X, even, np.eye(n_classes)]))


def test_votes_on_an_edge_of_a_grid_are_in_the_cell_below_it():
    votes = np.random.default_rng(0).multinomial(12, np.full(3, 1 / 3), 300) / 12
    for given in (votes, votes.astype(np.float32)):
        assert_same("numpy", cal.CanonicalBinning(12).fit(votes, np.arange(300) % 3), given)


def test_a_map_of_many_cells_has_few_brackets_inside_each_other():
    label, X = rows(3, "probability", n=400)
    assert_same("numpy", cal.CanonicalBinning("unique").fit(X, label), X)


def test_a_safe_calibrator_is_printed_whether_it_trusts_its_map_or_not():
    label, X = rows(3, "probability")
    for truth in (label, np.random.default_rng(0).permutation(label)):
        assert_same("numpy", SafeCalibrator(TemperatureScaling()).fit(X, truth), X)


def test_a_row_with_nan_becomes_nan_and_no_other_does():
    label, X = rows(1, "probability")
    found = by_numpy(cal.HistogramBinning(5).fit(X, label), np.append(X, np.nan))
    assert np.isnan(found).tolist() == [False] * len(X) + [True]


def test_null_becomes_null_in_a_query():
    duckdb = pytest.importorskip("duckdb")
    query = query_of(fitted(cal.IsotonicCalibration()), table="(SELECT NULL AS y_prob)")
    assert duckdb.sql(query).fetchall() == [(None,)]


def test_null_becomes_nan_in_javascript():
    for calibrator, row in ((fitted(PlattScaling()), None), (fitted(TemperatureScaling(), 3), [None, 0.5, 0.5])):
        assert np.all(LANGUAGES["js"](calibrator, np.array([row], dtype=object)) == None)  # noqa: E711 (NaN is null in JSON)


@pytest.mark.parametrize("table", ["{{ ref('predictions') }}", "`my-project.data.predictions`", "(SELECT 1 AS y_prob)"])
@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "sqlite", "bigquery", "snowflake", "spark", "tsql"])
def test_the_table_of_a_query_is_written_as_it_is(table, dialect):
    query = query_of(fitted(PlattScaling()), table=table, dialect=dialect)
    assert query.count(f"FROM {table}") == 1


def test_a_version_that_drops_terms_of_the_query_is_refused(monkeypatch):
    sqlglot = pytest.importorskip("sqlglot")
    monkeypatch.setattr(sqlglot, "__version__", "29.0.1")
    with pytest.raises(ImportError, match=r"30\.0 or newer.*; got 29\.0\.1\. Run pip install 'calibrant\[sql\]'\."):
        query_of(fitted(PlattScaling()), dialect="sqlite")


@pytest.mark.parametrize("dialect", ["duckdb", "bigquery", "snowflake"])
def test_a_query_that_is_too_long_for_its_database_is_refused(dialect, monkeypatch):
    calibrator = fitted(cal.IsotonicCalibration())
    length = len(query_of(calibrator, dialect=dialect))
    if dialect == "duckdb":
        monkeypatch.setattr(export, "MOST_CHARACTERS", length // 2)
    else:
        monkeypatch.setitem(export.MOST_CHARACTERS_OF, dialect, length // 2)
    with pytest.raises(ValueError, match=rf"a query must have at most {length // 2} characters; got \d+.*to_onnx"):
        query_of(calibrator, dialect=dialect)


def test_a_select_hands_on_what_is_read_later_and_nothing_else():
    sqlglot = pytest.importorskip("sqlglot")
    query = query_of(fitted(EvidenceScaling(), 4), columns=list("abcd"), keep=["key"])
    whole = sqlglot.parse_one(query, read="duckdb")
    selects = [*(part.this for part in whole.ctes), whole]
    assert len(selects) > 5
    for select, later in itertools.pairwise(selects):
        assert set(select.named_selects) == {
            column.name for one in later.selects for column in one.find_all(sqlglot.exp.Column)
        }


@pytest.mark.parametrize("dialect", ["postgres", "redshift"])
def test_nothing_is_too_small_for_a_database_that_takes_it_for_an_error(dialect):
    query = query_of(fitted(TemperatureScaling(input="logit"), 4, "logit"), dialect=dialect)
    exponentials = re.findall(r"EXP\(\s*(\w+)\(", query)
    assert exponentials
    assert set(exponentials) == {"GREATEST"}
    assert len(re.findall(r"ABS\(CAST\(r\.\S+ AS DOUBLE PRECISION\)\) < 1e-290", query)) == 4


def test_names_may_come_in_anything_that_has_an_order_and_a_dialect_in_capitals():
    calibrator = fitted(PlattScaling())
    wanted = query_of(calibrator, columns=["a"], keep=["b", "c"], dialect="sqlite")
    for order in (tuple, np.array, iter):
        assert query_of(calibrator, columns=order(["a"]), keep=order(["b", "c"]), dialect="SQLite") == wanted


def test_columns_that_were_fitted_with_names_are_those_that_a_query_reads(tmp_path):
    pandas = pytest.importorskip("pandas")
    label, X = rows(2, "probability")
    calibrator = PlattScaling().fit(pandas.DataFrame(X, columns=["no", "yes"]), label)
    assert query_of(calibrator) == query_of(calibrator, columns=["no", "yes"])
    save_calibrator(calibrator, tmp_path / "calibrator.json")
    assert query_of(load_calibrator(tmp_path / "calibrator.json")) == query_of(calibrator)


def test_columns_of_a_query_are_named_as_those_that_it_reads():
    query = query_of(fitted(PlattScaling(), 2), columns=['a "b"', "c"], keep=["id"])
    assert '"calibrated_a ""b"""' in query
    assert 'SELECT k0 AS "id", ' in query


@pytest.mark.parametrize("name", ["x0", "T1", "k0", "k1", "score", "r", "FROM rows_to_calibrate", "s0"])
@pytest.mark.parametrize("language", ["duckdb", "sqlite"])
@pytest.mark.parametrize("as_score", [False, True])
def test_names_of_columns_that_the_query_uses_itself_change_nothing(name, language, as_score):
    module = pytest.importorskip("duckdb" if language == "duckdb" else "sqlite3")
    calibrator = fitted(PlattScaling())
    score, kept = (name, "other") if as_score else ("p", name)
    connection = module.connect(":memory:")
    connection.execute(f'CREATE TABLE s0 AS SELECT 0.3 AS "{score}", 7 AS "{kept}", 8 AS t2')
    query = query_of(calibrator, table="s0", columns=[score], keep=[kept, "t2"], dialect=language)
    ((one, two, prob),) = connection.execute(query).fetchall()
    assert (one, two, prob) == (7, 8, pytest.approx(calibrator.calibrate([0.3])[0], abs=1e-13))


@pytest.mark.parametrize("wrong", [{"columns": ["scoer"]}, {}, {"columns": ["score"], "keep": ["nokey"]}], ids=str)
@pytest.mark.parametrize("language", ["duckdb", "sqlite"])
def test_a_column_that_is_not_there_is_an_error_of_the_database(language, wrong):
    module = pytest.importorskip("duckdb" if language == "duckdb" else "sqlite3")
    connection = module.connect(":memory:")
    connection.execute("CREATE TABLE predictions AS SELECT 0.3 AS score")
    query = query_of(fitted(cal.IsotonicCalibration()), dialect=language, **wrong)
    with pytest.raises(module.Error, match=r"scoer|y_prob|nokey"):
        connection.execute(query).fetchall()


@pytest.mark.parametrize("calibrator", [cal.IsotonicCalibration(), cal.VennAbers(), cal.SplineCalibration()], ids=repr)
def test_a_row_with_nan_leaves_the_others_of_a_batch_of_onnx(calibrator):
    found = by_onnx(fitted(calibrator), np.array([0.2, np.nan, 0.9]))
    assert np.isnan(found[1, 0])
    np.testing.assert_allclose(found[[0, 2], 0], calibrator.calibrate([0.2, 0.9]), rtol=0, atol=1e-13)


class Half(BinaryCalibrator):
    """A calibrator of somebody else."""

    def _fit(self, problem):
        self.half_ = 0.5

    def _apply(self, score):
        return score * self.half_


MANY = TemperatureScaling(input="logit")
WRONG = [
    (lambda c: to_numpy(fitted(Half())), TypeError, r"one of this library to be exported; got Half\. Register"),
    (lambda c: to_sql(fitted(MANY, 60, "logit", n=300)), ValueError, "at most 50 classes.*60.*to_onnx"),
    (lambda c: to_sql(c, columns=["p", "q"]), ValueError, "columns must be 1; got 2"),
    (lambda c: to_sql(fitted(MANY, 3, "logit"), columns=["p_1", "p_0", "p_2"]), ValueError, "got p_1, p_0, p_2"),
    (lambda c: to_numpy(3), TypeError, "calibrator must be a fitted calibrator; got 3"),
    (lambda c: to_js(PlattScaling()), NotFittedError, "not fitted yet"),
    (lambda c: to_sql(c, keep="id"), TypeError, "keep must be a list of names; got the string 'id'"),
    (lambda c: to_sql(c, columns={"y"}), TypeError, "columns must be a list, in an order; got {'y'}"),
    (lambda c: to_sql(c, columns=[3]), TypeError, "each of columns must be a name; got 3"),
    (lambda c: to_sql(c, columns=[" "]), TypeError, "each of columns must be a name; got ' '"),
    (lambda c: to_sql(c, keep={"id": 1}), TypeError, "keep must be a list, in an order; got {'id': 1}"),
    (lambda c: to_sql(c, keep=["a", "a"]), ValueError, "names that differ as text; got 'a', 'a', 'calibrated_y_prob'"),
    (lambda c: to_sql(c, columns=["a"], keep=["Calibrated_A"]), ValueError, "names that differ as text"),
    (lambda c: to_sql(c, table=None), TypeError, "table must be the name of a table; got None"),
    (lambda c: to_sql(c, table=" "), TypeError, "table must be the name of a table; got ' '"),
    (lambda c: to_sql(c, dialect="prql"), ValueError, "got 'prql'"),
    (lambda c: to_sql(c, dialect=[]), TypeError, r"dialect must be the name of a dialect; got \[\]"),
    (lambda c: to_sql(c, dialect="postgers"), ValueError, "Did you mean 'postgres'"),
    (lambda c: to_onnx(c, dtype="half"), ValueError, "dtype must be one of 'double', 'float'; got 'half'"),
]


@pytest.mark.parametrize(("call", "error", "words"), WRONG, ids=[words for *_, words in WRONG])
def test_what_makes_no_sense_is_refused(call, error, words):
    pytest.importorskip("onnx")
    pytest.importorskip("sqlglot")
    with pytest.raises(error, match=words):
        call(fitted(cal.IsotonicCalibration()))


def test_a_class_whose_name_is_code_ends_no_comment_and_no_script():
    label, X = rows(2, "probability")

    def of(*names):
        return PlattScaling(labels=names).fit(X, np.array(names)[label])

    calibrator = of('a"""\nraise SystemExit', "b\nDROP TABLE")
    assert_same("numpy", calibrator, X, bound=1e-15)
    comment, second, *lines = query_of(calibrator, columns=["p", "q"]).splitlines()
    assert (comment[:2], second[:2], "DROP" in "".join(lines)) == ("--", "--", False)
    assert not re.search(r"{[{%]", query_of(of("{{ env_var('HOME') }}", "{% raw %}"), columns=["p", "q"]))
    assert re.findall(r"<[^ =]", to_js(of("<!--<script>", "</script>"))) == []


def test_source_needs_numpy_alone(tmp_path):
    calibrator = fitted(cal.IsotonicCalibration())
    (tmp_path / "exported.py").write_text(to_numpy(calibrator), encoding="utf-8")
    asked = "import sys, exported; print(exported.calibrate([.25]).tolist(), 'scipy' in sys.modules, 'sklearn' in sys.modules)"
    said = subprocess.check_output([sys.executable, "-c", asked], cwd=tmp_path, text=True)
    assert said.split() == [f"[{calibrator.calibrate([0.25])[0]}]", "False", "False"]


def test_single_precision_of_onnx_rounds_what_comes_in_and_out_alone():
    calibrator, X = fitted(cal.IsotonicCalibration()), rows(1, "probability")[1].astype(np.float32)
    found = by_onnx(calibrator, X, dtype="float")[:, 0]
    np.testing.assert_array_equal(found, calibrator.calibrate(X.astype(np.float64)).astype(np.float32))


@pytest.mark.parametrize("calibrator", [PlattScaling(), cal.IsotonicCalibration(), EvidenceScaling()], ids=repr)
def test_a_model_of_onnx_holds_no_table_that_it_does_not_use(calibrator):
    pytest.importorskip("onnx")
    graph = to_onnx(fitted(calibrator)).graph
    assert {table.name for table in graph.initializer} == {
        name for node in graph.node for name in node.input if name.startswith("c")
    }


@pytest.mark.parametrize("n_classes", [1, 4])
@pytest.mark.parametrize("word", ["beta", "evidence-scaling", "matrix", "platt", "spline", "svs", "temperature"])
def test_a_module_of_torch_has_the_gradient_of_the_map(word, n_classes):
    torch = pytest.importorskip("torch")
    label, X = rows(n_classes, "logit")
    module = to_torch(registered(word, n_classes, "logit").fit(X, label))
    x = torch.tensor(X[60:66] + 0.00123, requires_grad=True)  # at a row that was fitted the line of ranks bends
    assert torch.autograd.gradcheck(module, x)
    assert torch.autograd.grad(module(x).pow(2).sum(), x)[0].abs().max() > 1e-3


def test_the_slope_of_the_logistic_function_is_a_quarter_at_zero_and_that_of_steps_is_zero():
    torch = pytest.importorskip("torch")
    even = PlattScaling(input="logit").fit([-2.0, -1.0, 1.0, 2.0], [0, 1, 0, 1])
    even.intercept_, even.slope_ = 0.0, 1.0
    x = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    to_torch(even)(x).sum().backward()
    assert x.grad.tolist() == [0.25]
    x = torch.tensor(rows(1, "logit")[1], requires_grad=True)
    to_torch(fitted(cal.IsotonicCalibration(input="logit"), 1, "logit"))(x).sum().backward()
    assert torch.equal(x.grad, torch.zeros_like(x))
