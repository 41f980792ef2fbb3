"""The mutator of files sees the faults that it is there to find, and finds none in a few files."""

import pytest

from tools import mutate_files
from tools.mutate_files import calibrators, mutate, tables, write, write_beside


def test_a_few_files_have_no_fault(tmp_path):
    count = mutate(60, 17, tmp_path / "faults", most=36)
    assert count["faults"] == 0
    assert count["files"] == count["refused"] + count["read"] == 36
    assert count["read"] > 0


@pytest.fixture
def files(tmp_path):
    """Files that nothing has happened to, and what they are read with."""
    made = write(tmp_path)
    write_beside(tmp_path)
    return made


def test_what_nothing_has_happened_to_is_read(files):
    assert len(files) == 1 + len(calibrators()) + 4 * len(tables())
    for path in files:
        if path.suffix in (".json", ".state") or "table0" in path.name:
            assert mutate_files.judged(path, "1") == {"outcome": "read", "faults": []}, path


def test_a_changed_state_that_is_read_is_a_fault(files, monkeypatch):
    state = next(path for path in files if path.suffix == ".state")
    for name in ("n_rows", "next_row"):
        state.write_text(state.read_text().replace(f'"{name}": 40', f'"{name}": 41'))
        assert mutate_files.judged(state, "0") == {"outcome": "refused", "faults": []}
        monkeypatch.setattr(mutate_files, "calibrant", lambda command: 0)
        assert mutate_files.judged(state, "0")["faults"] == ["a state that does not match its checksum was read"]
        monkeypatch.undo()


def raises(error):
    def read(*_):
        raise error

    return read


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (KeyError("x"), "KeyError came out"),
        (MemoryError(), "MemoryError came out"),
        (ValueError("no"), "an unclear refusal: 'no'"),
        (ValueError("x" * 2000 + "."), "an unclear refusal"),
        (ValueError("two\nlines."), "an unclear refusal"),
    ],
)
def test_an_error_that_is_no_refusal_is_a_fault(error, fault, files, monkeypatch):
    monkeypatch.setattr(mutate_files, "load_calibrator", raises(error))
    (found,) = mutate_files.judged(files[1], "0")["faults"]
    assert found.startswith(fault)
