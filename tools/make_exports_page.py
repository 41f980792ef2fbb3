"""Write docs/exports.md: how exactly each target gives what ``calibrate`` gives. Run: python -m tools.make_exports_page

The rows and the runners are those of tests/interop/test_export.py as well.
"""

import importlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from scipy.special import softmax

from calibrant import ByNotion
from calibrant.calibrators.base import BinaryCalibrator
from calibrant.interop.export import to_js, to_numpy, to_onnx, to_sql, to_torch, torch_source
from calibrant.registry import entries

ROOT = Path(__file__).parents[1]


class AbsentError(Exception):
    """What runs a target is not installed."""


def installed(name):
    """Import a module, or say that it is absent."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise AbsentError(f"{name} is not installed") from None


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
    source, module = to_numpy(calibrator), {}
    exec(source, module)
    return module["calibrate"](X), len(source.encode())


def by_duckdb(calibrator, X):
    duckdb, pandas = installed("duckdb"), installed("pandas")
    table, columns = framed(pandas, X)
    query = to_sql(calibrator, columns=columns, keep=["row"])
    connection = duckdb.connect().register("predictions", table)
    better = connection.sql(query + " ORDER BY row").df()
    return better[[f"calibrated_{one}" for one in columns]].to_numpy(), len(query.encode())


def by_sqlite(calibrator, X):
    _, pandas = installed("sqlglot"), installed("pandas")
    table, columns = framed(pandas, X)
    with sqlite3.connect(":memory:") as connection:
        try:
            connection.execute("SELECT EXP(1.0)")
        except sqlite3.OperationalError:
            raise AbsentError("this SQLite has no mathematical functions") from None
        table.to_sql("predictions", connection, index=False)
        query = to_sql(calibrator, columns=columns, keep=["row"], dialect="sqlite")
        found = np.array(connection.execute(query + " ORDER BY 1").fetchall(), dtype=float)[:, 1:]
    return found, len(query.encode())


def by_postgres(calibrator, X):
    if not (server := os.environ.get("CALIBRANT_POSTGRES")):
        raise AbsentError("CALIBRANT_POSTGRES names no server, as in 'host=/tmp user=postgres'")
    installed("sqlglot")
    columns = [f"p {j}" for j in range(X[:1].size)]
    query = to_sql(calibrator, columns=columns, keep=["row"], dialect="postgres")
    listed = ", ".join(f'"{name}" double precision' for name in columns)
    rows = "\n".join("\t".join(map(repr, [row, *values])) for row, values in enumerate(X.reshape(len(X), -1).tolist()))
    made = f"CREATE TEMP TABLE predictions (row int, {listed});\nCOPY predictions FROM stdin;\n{rows}\n\\.\n"
    asked = f"{made}{query.rstrip()} ORDER BY row;"
    options = ["-X", "-q", "-A", "-t", "-F,", "-v", "ON_ERROR_STOP=1", "-f", "-"]
    said = subprocess.run(["psql", server, *options], input=asked, capture_output=True, text=True, check=True).stdout
    return np.loadtxt(said.splitlines(), delimiter=",", ndmin=2)[:, 1:], len(query.encode())


def framed(pandas, X):
    table = X.reshape(len(X), -1)
    columns = [f"p {j}" for j in range(table.shape[1])]
    return pandas.DataFrame(table, columns=columns).assign(row=np.arange(len(X))), columns


def by_onnx(calibrator, X):
    _, session = installed("onnx"), installed("onnxruntime").InferenceSession
    written = to_onnx(calibrator).SerializeToString()
    model = session(written, providers=["CPUExecutionProvider"])
    return model.run(None, {"x": X.reshape(len(X), -1)})[0], len(written)


def by_torch(calibrator, X):
    torch = installed("torch")
    module, x = to_torch(calibrator), torch.tensor(X)
    found = module(x)
    assert torch.equal(torch.jit.script(module)(x), found)
    return found.numpy(), len(torch_source(calibrator).encode())


def by_js(calibrator, X, folder):
    if (node := shutil.which("node")) is None:
        raise AbsentError("node is not installed")
    place = folder / "calibrator.mjs"
    run_all = f"\nconsole.log(JSON.stringify({json.dumps(X.tolist())}.map(calibrate)));"
    place.write_text((source := to_js(calibrator)) + run_all, encoding="utf-8")
    found = json.loads(subprocess.run([node, place], capture_output=True, text=True, check=True).stdout)
    return np.array(found), len(source.encode())


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


SHAPES = {"Of one score": 1, "Of four classes": 4}


def measured(word, n_classes, language, folder):
    """Largest difference from ``calibrate``, of probabilities and of logits, and the bytes of what takes probabilities."""
    differences, sizes, slopes = [], [], []
    for input in ("probability", "logit"):
        label, X = rows(n_classes, input, seed=1)
        calibrator = registered(word, n_classes, input).fit(X, label)
        X = beside(calibrator, X)
        found, size = LANGUAGES[language](calibrator, X, *([folder] if language == "js" else []))
        expected = calibrator.calibrate(X)
        differences.append(np.abs(np.reshape(found, expected.shape) - expected).max())
        sizes.append(size)
        slopes.append(largest_slope(calibrator))
    return max(differences), sizes[0], max(slopes)


def main():
    """Measure each registered calibrator in each target, and write the page."""
    warnings.simplefilter("ignore")
    absent, parts = {}, [HEAD]
    for title, n_classes in SHAPES.items():
        body = []
        for word in sorted(entries("calibrator")):
            cells = {}
            for language in [one for one in LANGUAGES if one not in absent]:
                try:
                    with tempfile.TemporaryDirectory() as folder:
                        far, size, slope = measured(word, n_classes, language, Path(folder))
                except AbsentError as reason:
                    absent[language] = str(reason)
                    continue
                cells[language] = f"{'0' if far == 0 else f'{far:.0e}'}, {size:,}"
            steep = "" if slope < 2 else f"{slope:.0f}" if slope < 1000 else f"{slope:.0e}"
            body.append([f"`{word}`", *cells.values(), steep])
            print(body[-1], file=sys.stderr, flush=True)
        head = ["", *(one for one in LANGUAGES if one not in absent), "slope"]
        table = "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *body])
        parts.append(f"## {title}\n\n{table}")
    parts += [f"Not in the tables: {language}, since {reason}." for language, reason in absent.items()]
    (ROOT / "docs" / "exports.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


HEAD = """# Exports

Written by `python -m tools.make_exports_page`. Each registered calibrator is fitted to 200 rows with its defaults, and
[exported to each target](how-to/export.md). Maps of one score are exported of four classes as their top-label form.

A cell shows the largest difference from `calibrate`, and the bytes of what is written. The difference is the larger one of
probabilities and of logits. Among the rows are equal ones, zeros and ones; and of a map of one probability each threshold, and
the numbers one unit in the last place beside it. The bytes are those for probabilities, as `calibrant export` writes them.
`postgres` is Postgres 15, by `CALIBRANT_POSTGRES`.

The last column is the largest slope of the map, where it is 2 or more. Such a map multiplies the rounding of its input: the
tests allow NumPy a difference of 1e-15 times the slope, and the other targets one of 1e-13 times the slope."""


if __name__ == "__main__":
    main()
