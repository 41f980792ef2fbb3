"""What would be published agrees with itself, and what would not is found."""

import re
import shutil
import tarfile

import pytest

pytest.importorskip("yaml")
from tools import release

READ = ["Makefile", "pyproject.toml", "README.md", "CHANGELOG.md", "CITATION.cff", "codemeta.json", ".zenodo.json"]
READ += ["src/calibrant/__init__.py", "recipe/recipe.yaml"]


@pytest.fixture
def project(tmp_path):
    """A copy of all that is compared."""
    shutil.copytree(release.ROOT / ".github", tmp_path / ".github")
    for name in READ:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(release.ROOT / name, tmp_path / name)
    return tmp_path


def test_files_and_workflows_of_the_project_agree():
    assert [*release.wrong_in_metadata(), *release.wrong_in_workflows()] == []


def test_a_release_is_published_without_a_secret_by_one_job_that_may_prove_who_it_is():
    jobs = release.workflows()["release.yml"]["jobs"]
    allowed = {name: job.get("permissions") for name, job in jobs.items()}
    assert allowed == {"build": None, "publish": {"id-token": "write"}}
    assert jobs["publish"]["needs"] == "build"
    assert jobs["publish"]["environment"] == "pypi"


def test_actions_are_pinned_to_a_commit_but_for_the_one_that_publishes():
    steps = [s for w in release.workflows().values() for job in w["jobs"].values() for s in job["steps"]]
    used = {step["uses"] for step in steps if "uses" in step}
    assert {one for one in used if not re.search(r"@[0-9a-f]{40}$", one)} == {"pypa/gh-action-pypi-publish@release/v1"}


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("codemeta.json", "numpy>=2.1", "numpy>=2.0", "what codemeta.json requires is"),
        ("recipe/recipe.yaml", "- numba >=0.61", "- numba", "what the recipe requires is"),
        ("recipe/recipe.yaml", 'version: "0.1.0"', 'version: "0.2.0"', "the version of the recipe is '0.2.0'"),
        ("CITATION.cff", "version: 0.1.0", "version: 0.2.0", "the version of CITATION.cff is '0.2.0'"),
        (".zenodo.json", "BSD-3-Clause", "MIT", "the licence of .zenodo.json is 'MIT'"),
        (".zenodo.json", '"uncertainty"', '"doubt"', "the keywords of .zenodo.json is"),
        (".github/workflows/docs.yml", "run: make docs", "run: make doc", "docs.yml runs 'make doc'"),
        (".github/workflows/docs.yml", "run: make docs", "run: curl x | sh", "docs.yml runs 'curl x | sh'"),
        (".github/workflows/release.yml", "environment: pypi", "env: {X: '${{ secrets.X }}'}", "reads a secret"),
        (".github/workflows/tests.yml", "contents: read", "contents: write", "tests.yml must give its jobs"),
    ],
)
def test_what_does_not_agree_is_found(project, name, old, new, said):
    text = (project / name).read_text(encoding="utf-8")
    assert old in text
    (project / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    (found,) = [*release.wrong_in_metadata(project), *release.wrong_in_workflows(project)]
    assert said in found


def test_a_tag_of_another_version_or_without_a_changelog_is_refused(project):
    (project / "CHANGELOG.md").write_text("# Changelog\n", encoding="utf-8")
    (project / "README.md").write_text("[a](https://a.example/b.md), [c](#c)\n", encoding="utf-8")
    assert [sentence.partition(" ")[0] for sentence in release.wrong_in_metadata(project, "v0.1.0")] == ["CHANGELOG.md"]
    assert any("the tag is 'v0.1.1'" in sentence for sentence in release.wrong_in_metadata(project, "v0.1.1"))


def test_a_page_for_an_index_with_links_to_the_files_beside_it_is_not_tagged(project):
    assert [one for one in release.wrong_in_metadata(project) if "README" in one] == []
    (project / "README.md").write_text('[a](docs/a.md) <img src="b.png"> [c](https://c.example)\n', encoding="utf-8")
    (said,) = [one for one in release.wrong_in_metadata(project, "v0.1.0") if "README" in one]
    assert said.startswith("README.md has 2 links without an address, such as b.png")


@pytest.mark.parametrize("changed", [b"", b" and more"])
def test_a_wheel_that_differs_when_it_is_built_again_is_found(changed, monkeypatch, tmp_path):
    (tmp_path / "calibrant-0").mkdir()

    def built(source, output):
        output.mkdir()
        with tarfile.open(output / "calibrant-0.tar.gz", "w:gz") as archive:
            archive.add(tmp_path / "calibrant-0", "calibrant-0")
        return {"calibrant-0.whl": b"wheel" + (changed if output.name == "again" else b"")}

    monkeypatch.setattr(release, "built", built)
    said = ["calibrant-0.whl differs when it is built again"]
    assert release.twice(tmp_path / "dist") == (said if changed else [])
