"""Print the oldest versions that pyproject.toml allows, as pip constraints. Run: python -m tools.minimum_versions"""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
EXTRAS = "plot", "report", "table", "sql", "onnx", "all", "dask", "duckdb", "test"
lines = project["dependencies"] + [line for extra in EXTRAS for line in project["optional-dependencies"][extra]]
for requirement in dict.fromkeys(lines):
    if match := re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement):
        print(f"{match[1]}=={match[2]}")
