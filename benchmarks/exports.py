"""What each target of an export costs: a row, a million rows, and the packages that a service needs; skl2onnx beside them."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.calibrators import column, table
from benchmarks.measure import interleaved, markdown, spelled
from calibrant import IsotonicCalibration, PlattScaling, TemperatureScaling, save_calibrator
from calibrant.interop.export import to_js, to_numpy, to_onnx, to_sql, to_torch

TITLE, ROOT, ROWS, QUICK_ROWS, FITTED, CALLS = "Exports", Path(__file__).parents[1], 1_000_000, 10_000, 5_000, 50
Run = Callable[[np.ndarray], Any]

TEXT = """Seconds for one row and for many, and the largest difference from `predict_proba` over the many. Times are the least
of the rounds. calibrant's calibrators are fitted to 5,000 rows. `predict_proba` and `calibrate` check their
input, as scikit-learn does; what is exported does not. DuckDB reads a table that it holds, and node runs JavaScript row by row.

The lines of scikit-learn and skl2onnx are the same `CalibratedClassifierCV` of a `LogisticRegression`, of one feature and
`ensemble=False`. It is converted with an input in single precision. The differences of skl2onnx are those from scikit-learn."""
SERVICE = """A service of Platt scaling: megabytes of the packages, installed by pip into an empty folder, and seconds of a
fresh process from start to end, in which a calibrator is loaded and maps one row. The least of the rounds."""
NODE = """
import {{ readFileSync, writeFileSync }} from "node:fs";
const flat = new Float64Array(readFileSync("in.bin").buffer), k = {k}, rows = [], least = [Infinity, Infinity];
for (let i = 0; i < flat.length; i += k) rows.push(k === 1 ? flat[i] : Array.from(flat.subarray(i, i + k)));
let found;
for (let round = 0; round < {rounds}; round++) {{
  let start = performance.now();
  for (let i = 0; i < 1000; i++) calibrate(rows[0]);
  least[0] = Math.min(least[0], (performance.now() - start) / 1e6);
  start = performance.now();
  found = rows.map(calibrate);
  least[1] = Math.min(least[1], (performance.now() - start) / 1e3);
}}
writeFileSync("out.bin", Float64Array.from(found.flat())); console.log(JSON.stringify(least));
"""


def targets(calibrator: Any, x: np.ndarray) -> dict[str, tuple[Run, Any]]:
    """The call of each target that is installed, and the function that makes its input of some rows."""
    import duckdb
    import onnxruntime
    import pandas
    import torch

    module: dict[str, Any] = {}
    exec(to_numpy(calibrator), module)
    session = onnxruntime.InferenceSession(to_onnx(calibrator).SerializeToString(), providers=["CPUExecutionProvider"])
    scripted, connection = torch.jit.script(to_torch(calibrator)), duckdb.connect()
    names = [f"p{j}" for j in range(x.reshape(len(x), -1).shape[1])]

    def held(rows: np.ndarray) -> str:
        frame, name = pandas.DataFrame(rows.reshape(len(rows), -1), columns=names), f"of_{len(rows)}"  # noqa: F841
        connection.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM frame")
        return to_sql(calibrator, table=name, columns=names)

    return {
        "calibrant, `predict_proba`": (calibrator.predict_proba, np.asarray),
        "calibrant, `calibrate`": (calibrator.calibrate, np.asarray),
        "NumPy": (module["calibrate"], np.asarray),
        "ONNX": (lambda given: session.run(None, {"x": given})[0], lambda rows: rows.reshape(len(rows), -1)),
        "torch, scripted": (scripted, torch.tensor),
        "SQL, DuckDB": (lambda query: np.column_stack(list(connection.sql(query).fetchnumpy().values())), held),
    }


def converted(method: str, y: np.ndarray, z: np.ndarray) -> dict[str, tuple[Run, Any]]:
    """scikit-learn's calibrated classifier, and what skl2onnx makes of it."""
    import onnxruntime
    import skl2onnx
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.linear_model import LogisticRegression

    fitted = CalibratedClassifierCV(LogisticRegression(), method=method, ensemble=False).fit(z, y)
    kind = [("x", skl2onnx.common.data_types.FloatTensorType([None, 1]))]
    written = skl2onnx.to_onnx(fitted, initial_types=kind, options={"zipmap": False}).SerializeToString()
    session = onnxruntime.InferenceSession(written, providers=["CPUExecutionProvider"])
    return {
        "scikit-learn": (lambda given: fitted.predict_proba(given)[:, 1], np.asarray),
        "skl2onnx": (lambda given: session.run(None, {"x": given})[1][:, 1], np.float32),
    }


def race(contenders: dict[str, tuple[Run, Any]], x: np.ndarray, rounds: int, expected: np.ndarray) -> list[list[str]]:
    """Lines of a table: seconds for one row and for all, and the largest difference from what is expected."""
    calls: dict[str, Callable[[], Any]] = {}
    for name, (run, made) in contenders.items():
        one, all_rows = made(x[:1]), made(x)
        calls[f"one {name}"] = lambda run=run, one=one: [run(one) for _ in range(CALLS)]
        calls[name] = lambda run=run, all_rows=all_rows: run(all_rows)
    found = interleaved(calls, rounds)
    lines = []
    for name in contenders:
        result = np.asarray(found[name].result)
        result = result.reshape(expected.shape) if result.size == expected.size else result[:, 1]  # of one column two
        seconds = [min(found[f"one {name}"].seconds) / CALLS, min(found[name].seconds)]
        lines.append([name, *map(spelled, seconds), f"{np.abs(result - expected).max():.0e}"])
    return lines


def by_node(calibrator: Any, x: np.ndarray, rounds: int, expected: np.ndarray) -> list[list[str]]:
    """The line of JavaScript, where node is installed."""
    if (node := shutil.which("node")) is None:
        return [["JavaScript", "node is not installed", "", ""]]
    with tempfile.TemporaryDirectory() as folder:
        x.tofile(Path(folder, "in.bin"))
        script = to_js(calibrator) + NODE.format(k=x.size // len(x), rounds=rounds)
        Path(folder, "run.mjs").write_text(script, encoding="utf-8")
        run = subprocess.run([node, "run.mjs"], cwd=folder, check=True, capture_output=True)
        far = np.abs(np.fromfile(Path(folder, "out.bin")).reshape(expected.shape) - expected).max()
    return [["JavaScript, node", *map(spelled, json.loads(run.stdout)), f"{far:.0e}"]]


def service(calibrator: Any, rounds: int) -> list[list[str]]:
    """What is installed for each way to serve a calibrator, and how long a fresh process with one row takes."""
    lines = []
    with tempfile.TemporaryDirectory() as place:
        save_calibrator(calibrator, Path(place, "calibrator.json"))
        Path(place, "exported.py").write_text(to_numpy(calibrator), encoding="utf-8")
        Path(place, "exported.onnx").write_bytes(to_onnx(calibrator).SerializeToString())
        session = "onnxruntime.InferenceSession('exported.onnx', providers=['CPUExecutionProvider'])"
        ways = {
            "calibrant": (
                str(ROOT),
                "import calibrant; calibrant.load_calibrator('calibrator.json').predict_proba([0.3])",
            ),
            "NumPy source": ("numpy", "import exported; exported.calibrate([0.3])"),
            "ONNX": ("onnxruntime", f"import onnxruntime; {session}.run(None, {{'x': [[0.3]]}})"),
        }
        for name, (package, code) in ways.items():
            folder = Path(place, package.replace(os.sep, "_"))
            if not folder.exists():
                pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, package]
                subprocess.run(pip, check=True, capture_output=True)
            size = sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())
            environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{place}"}
            command = [sys.executable, "-S", "-c", code]  # -S leaves out what else is installed
            call = lambda c=command, e=environment: subprocess.run(c, env=e, cwd=place, check=True)  # noqa: E731
            lines.append([name, f"{size / 1e6:.0f}", spelled(min(interleaved({name: call}, rounds)[name].seconds))])
    return lines


def tables(rounds: int, quick: bool) -> str:
    """Measure all and return the section."""
    size = QUICK_ROWS if quick else ROWS
    parts = [TEXT]
    (y, prob), (_, rows) = column(FITTED, seed=0), column(size, seed=1)
    logit, logits = (np.log(one / (1.0 - one))[:, None] for one in (prob, rows))
    wide_y, wide = table(FITTED, 10, seed=0)
    for title, calibrator, x, method in (
        ("Platt scaling", PlattScaling().fit(prob, y), rows, "sigmoid"),
        ("Isotonic regression", IsotonicCalibration().fit(prob, y), rows, "isotonic"),
        ("Temperature scaling of ten classes", TemperatureScaling().fit(wide, wide_y), table(size, 10, seed=1)[1], ""),
    ):
        expected = calibrator.calibrate(x)
        lines = race(targets(calibrator, x), x, rounds, expected) + by_node(calibrator, x, rounds, expected)
        if method:
            peers = converted(method, y, logit)
            lines += race(peers, logits, rounds, peers["scikit-learn"][0](logits))
        parts.append(f"{title}:\n\n" + markdown(["", "one row", f"{size:,} rows", "largest difference"], lines))
    head = ["", "MB of packages", "a fresh process, one row"]
    return "\n\n".join([*parts, SERVICE, markdown(head, service(PlattScaling().fit(prob, y), rounds))])
