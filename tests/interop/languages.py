"""Rows whose ties and edges an export can miss, and what each language in which a calibrator is written makes of rows."""

import json
import os
import shutil
import sqlite3
import subprocess

import numpy as np
import pytest
from scipy.special import softmax

from calibrant import ByNotion
from calibrant.calibrators.base import BinaryCalibrator
from calibrant.interop.export import to_js, to_numpy, to_onnx, to_sql, to_torch
from calibrant.registry import entries


def rows(n_classes, input, *, n=200, seed=0):
    """Labels and forecasts with ties, decimals, zeros and ones; of one class a column."""
    rng = np.random.default_rng(seed)
    logits = 2.0 * rng.normal(size=(n, max(2, n_classes)))
    sums = np.cumsum(np.exp(logits), axis=1)
    label = (sums > rng.random((n, 1)) * np.exp(logits).sum(axis=1, keepdims=True)).argmax(axis=1)
    logits *= 1.7
    logits[: n // 4] = np.round(logits[: n // 4])
    if input == "logit":
        return label, logits[:, 1] - logits[:, 0] if n_classes == 1 else logits
    prob = np.round(softmax(logits, axis=1), 3)
    prob[:, 0] = 1.0 - prob[:, 1:].sum(axis=1)
    prob = np.clip(prob, 0.0, 1.0)
    prob[:3] = np.eye(prob.shape[1])[np.arange(3) % prob.shape[1]]
    return label, prob[:, 1] if n_classes == 1 else prob


def extreme_rows(n_classes, input, *, n=240, seed=0):
    """Labels and forecasts so sure that their probabilities lie a few ulps from 1, and below what logarithms are clipped at."""
    rng = np.random.default_rng(seed)
    size = rng.choice([1.0, 6.0, 15.0, 40.0, 200.0], size=(n, 1))
    logits = size * rng.normal(size=(n, max(2, n_classes)))
    logits[: n // 6] = np.round(logits[: n // 6])
    label = (logits + 2.0 * np.minimum(size, 3.0) * rng.gumbel(size=logits.shape)).argmax(axis=1)
    label[: logits.shape[1]] = np.arange(logits.shape[1])
    if input == "logit":
        return label, logits[:, 1] - logits[:, 0] if n_classes == 1 else logits
    prob = softmax(logits, axis=1)
    return label, prob[:, 1] if n_classes == 1 else prob


def beside(calibrator, X):
    """Rows of which each probability is a threshold of the map, or one ulp beside it, where it has some."""
    if X.ndim == 2 or calibrator.input == "logit":
        return X
    names = ("left_", "edges_", "lower_score_", "upper_score_", "knot_")
    edges = [getattr(calibrator, name, np.empty(0)) for name in names]
    edges = np.concatenate([np.ravel(edge) for edge in edges if np.ndim(edge) < 2])
    near = [X, edges, np.nextafter(edges, -1), np.nextafter(edges, 2), [0.0, 0.5, 1.0]]
    return np.clip(np.concatenate(near), 0.0, 1.0)


def by_numpy(calibrator, X):
    module = {}
    exec(to_numpy(calibrator), module)
    return module["calibrate"](X)


def by_duckdb(calibrator, X):
    duckdb = pytest.importorskip("duckdb")
    table, columns = framed(X)
    query = to_sql(calibrator, columns=columns, keep=["row"])
    connection = duckdb.connect().register("predictions", table)
    better = connection.sql(query + " ORDER BY row").df()
    return better[[f"calibrated_{one}" for one in columns]].to_numpy()


def by_sqlite(calibrator, X):
    pytest.importorskip("sqlglot")
    table, columns = framed(X)
    with sqlite3.connect(":memory:") as connection:
        try:
            connection.execute("SELECT EXP(1.0)")
        except sqlite3.OperationalError:
            pytest.skip("this SQLite has no mathematical functions")
        table.to_sql("predictions", connection, index=False)
        query = to_sql(calibrator, columns=columns, keep=["row"], dialect="sqlite")
        return np.array(connection.execute(query + " ORDER BY 1").fetchall(), dtype=float)[:, 1:]


def by_postgres(calibrator, X):
    if not (server := os.environ.get("CALIBRANT_POSTGRES")):
        pytest.skip("CALIBRANT_POSTGRES names no server, as in 'host=/tmp user=postgres'")
    pytest.importorskip("sqlglot")
    columns = [f"p {j}" for j in range(X[:1].size)]
    query = to_sql(calibrator, columns=columns, keep=["row"], dialect="postgres")
    listed = ", ".join(f'"{name}" double precision' for name in columns)
    rows = "\n".join("\t".join(map(repr, [row, *values])) for row, values in enumerate(X.reshape(len(X), -1).tolist()))
    made = f"CREATE TEMP TABLE predictions (row int, {listed});\nCOPY predictions FROM stdin;\n{rows}\n\\.\n"
    asked = f"{made}{query.rstrip()} ORDER BY row;"
    options = ["-X", "-q", "-A", "-t", "-F,", "-v", "ON_ERROR_STOP=1", "-f", "-"]
    said = subprocess.run(["psql", server, *options], input=asked, capture_output=True, text=True, check=True).stdout
    return np.loadtxt(said.splitlines(), delimiter=",", ndmin=2)[:, 1:]


def framed(X):
    pandas = pytest.importorskip("pandas")
    table = X.reshape(len(X), -1)
    columns = [f"p {j}" for j in range(table.shape[1])]
    return pandas.DataFrame(table, columns=columns).assign(row=np.arange(len(X))), columns


def by_onnx(calibrator, X, **options):
    pytest.importorskip("onnx")
    session = pytest.importorskip("onnxruntime").InferenceSession
    model = session(to_onnx(calibrator, **options).SerializeToString(), providers=["CPUExecutionProvider"])
    return model.run(None, {"x": X.reshape(len(X), -1)})[0]


def by_torch(calibrator, X):
    torch = pytest.importorskip("torch")
    module, x = to_torch(calibrator), torch.tensor(X)
    found = module(x)
    assert torch.equal(torch.jit.script(module)(x), found)
    return found.numpy()


def by_js(calibrator, X):
    if (node := shutil.which("node")) is None:
        pytest.skip("node is not installed")
    asked = f"{to_js(calibrator)}\nconsole.log(JSON.stringify({json.dumps(X.tolist())}.map(calibrate)));".encode()
    words = [node, "--input-type=module"]
    return np.array(json.loads(subprocess.run(words, input=asked, capture_output=True, check=True).stdout))


LANGUAGES = {
    of.__name__.removeprefix("by_"): of
    for of in (by_numpy, by_duckdb, by_sqlite, by_postgres, by_onnx, by_torch, by_js)
}


def largest_slope(calibrator):
    """By how much a map between close points multiplies the rounding of what goes in."""
    slopes = [1.0]
    for one in getattr(calibrator, "calibrators_", [calibrator]):
        for names in (("score_", "deviation_"), ("knot_", "value_"), ("knots_", "deviation_")):
            place, value = (getattr(one, name, None) for name in names)
            if place is not None and value is not None and place.size > 1:
                slopes.append(np.max(np.abs(np.diff(value) / np.diff(place))))
    return max(slopes)


def registered(word, n_classes, input):
    made = entries("calibrator")[word].target
    if isinstance(made, type) and issubclass(made, BinaryCalibrator):
        return made(input=input) if n_classes < 3 else ByNotion(made(), "top-label", input=input)
    return made(input=input)
