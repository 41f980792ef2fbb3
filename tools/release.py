"""Is what would be published in order? Run: python -m tools.release build/dist

Builds the sdist and the wheel, builds them again from that sdist, and compares the bytes. Then the checkers of the index, of
pyproject.toml, of the citation and of the workflows look at theirs, and this file at what nobody else compares: versions,
descriptions and requirements that stand in several files, and the targets of make that workflows run.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]


def built(source: Path, output: Path) -> dict[str, bytes]:
    """Build sdist and wheel of a directory, and return the bytes of each file."""
    dated = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False)
    environment = {"SOURCE_DATE_EPOCH": dated.stdout.strip() or "1600000000"} | os.environ
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(output), str(source)]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return {path.name: path.read_bytes() for path in sorted(output.iterdir())}


def twice(output: Path) -> list[str]:
    """Build the distributions into a folder and again from their sdist; return a sentence for each that differs."""
    shutil.rmtree(output, ignore_errors=True)
    first = built(ROOT, output)
    with tempfile.TemporaryDirectory() as name:
        (sdist,) = output.glob("*.tar.gz")
        with tarfile.open(sdist) as archive:
            archive.extractall(name, filter="data")
        second = built(next(Path(name).iterdir()), Path(name) / "again")
    return [f"{file} differs when it is built again" for file in first | second if first.get(file) != second.get(file)]


def workflows(root: Path = ROOT) -> dict[str, dict]:
    """Return the workflows by the names of their files."""
    paths = sorted((root / ".github" / "workflows").glob("*.yml"))
    return {path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in paths}


def wrong_in_workflows(root: Path = ROOT) -> Iterator[str]:
    """Yield a sentence for each command that make does not know, each secret and each right that a whole workflow has."""
    targets = set(re.findall(r"^([\w-]+):", (root / "Makefile").read_text(encoding="utf-8"), flags=re.M))
    for name, workflow in workflows(root).items():
        steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
        for words in (line.split() for step in steps for line in step.get("run", "").splitlines()):
            if words[:1] != ["make"] or not set(words[1:]) <= targets:
                yield f"{name} runs {' '.join(words)!r}, which is no target of make"
        if "secrets." in (root / ".github" / "workflows" / name).read_text(encoding="utf-8"):
            yield f"{name} reads a secret"
        if workflow.get("permissions") != {"contents": "read"}:
            yield f"{name} must give its jobs no more than to read; a job asks for what it needs"


def wrong_in_metadata(root: Path = ROOT, tag: str | None = None) -> Iterator[str]:
    """Yield a sentence for each file that says something else than pyproject.toml."""
    stated = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    project, backend = stated["project"], stated["build-system"]["requires"]
    version = re.search(r'__version__ = "(.*)"', (root / "src/calibrant/__init__.py").read_text(encoding="utf-8"))[1]
    files = ("recipe/recipe.yaml", "CITATION.cff", "codemeta.json", ".zenodo.json")  # JSON is YAML
    recipe, citation, code, zenodo = (yaml.safe_load((root / name).read_text(encoding="utf-8")) for name in files)
    python = project["requires-python"].removeprefix(">=")
    needs = {part: [one.replace(" ", "") for one in recipe["requirements"][part]] for part in ("host", "run")}
    author, extras = project["authors"][0]["name"], project["optional-dependencies"]
    said = [
        ("the version of CITATION.cff", citation["version"], version),
        ("the version of codemeta.json", code["version"], version),
        ("the version of the recipe", recipe["context"]["version"], version),
        ("the Python of codemeta.json", code["runtimePlatform"], f"Python >={python}"),
        ("the Python of the recipe", recipe["context"]["python_min"], python),
        ("what codemeta.json requires", code["softwareRequirements"], project["dependencies"]),
        ("what the recipe requires", needs["run"][1:], project["dependencies"]),
        ("what builds the recipe", needs["host"][2:], backend),
        ("what builds a release", [one for one in extras["release"] if one in backend], backend),
        ("the licence of codemeta.json", code["license"].rpartition("/")[2], project["license"]),
        ("the licence of .zenodo.json", zenodo["license"], project["license"]),
        ("the authors of codemeta.json", [one["name"] for one in code["author"]], [author]),
        ("the authors of .zenodo.json", [one["name"] for one in zenodo["creators"]], [author]),
        ("the abstract of CITATION.cff", citation["abstract"], project["description"]),
        ("the summary of the recipe", recipe["about"]["summary"], project["description"]),
        ("the tag", tag or f"v{version}", f"v{version}"),
    ]
    for file, found in {".zenodo.json": zenodo, "codemeta.json": code}.items():
        said += [(f"the {word} of {file}", found[word], project[word]) for word in ("description", "keywords")]
    yield from (f"{what} is {found!r}; it must be {right!r}" for what, found, right in said if found != right)
    pages = re.findall(r"\]\(([^)#]+)|src=\"([^\"]+)", (root / "README.md").read_text(encoding="utf-8"))
    if tag and (near := sorted({link for link in map("".join, pages) if "://" not in link})):
        yield f"README.md has {len(near)} links without an address, such as {near[0]}: an index shows it without these files"
    if tag and f"\n## {version} (" not in (root / "CHANGELOG.md").read_text(encoding="utf-8"):
        yield f"CHANGELOG.md has no section {version}: run towncrier build --version {version}"


def checked(output: Path) -> list[str]:
    """Run the checkers of others, and return a sentence for each that found something."""
    files = sorted(map(str, (ROOT / ".github" / "workflows").glob("*.yml")))
    schema = ["-m", "check_jsonschema", "--builtin-schema"]
    commands = [
        ["-m", "twine", "check", "--strict", *sorted(map(str, output.iterdir()))],
        ["-m", "validate_pyproject", str(ROOT / "pyproject.toml")],
        [*schema, "vendor.citation-file-format", str(ROOT / "CITATION.cff")],
        [*schema, "vendor.github-workflows", *files],
    ]
    quiet = os.environ | {"VALIDATE_PYPROJECT_NO_NETWORK": "1"}
    runs = [subprocess.run([sys.executable, *command], env=quiet, check=False) for command in commands]
    return [f"{run.args[2]} found something, see above" for run in runs if run.returncode]


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    wrong = [*twice(folder), *checked(folder), *wrong_in_workflows(), *wrong_in_metadata(tag=os.environ.get("TAG"))]
    print("\n".join(wrong) or f"{', '.join(path.name for path in sorted(folder.iterdir()))}: in order")
    sys.exit(bool(wrong))
