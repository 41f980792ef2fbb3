"""Print the oldest versions that pyproject.toml allows, as pip constraints. Run: python -m tools.minimum_versions"""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
wanted = project["dependencies"] + [
    line for extra in ("plot", "report", "table", "all", "test") for line in project["optional-dependencies"][extra]
]
for requirement in wanted:
    if match := re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement):
        print(f"{match[1]}=={match[2]}")
