"""Tables in files: every format holds the same numbers, columns are found or refused, and NPZ needs NumPy alone."""

import io
import re
import tracemalloc
import zipfile

import numpy as np
import pytest

from calibrant.interop.tables import read_forecast, read_table, write_table

ENDINGS = ["csv", "parquet", "pq", "feather", "arrow", "npz"]
TABLE = {
    "label": np.array(["cat", "dög", "cat, tabby"]),
    "p_0": np.array([0.1, 1 / 3, 1e-300]),
    "n": np.array([1, -2, 2**53 + 1]),
    "single": np.array([0.1, 0.2, 0.3], dtype=np.float32).astype(np.float64),
    'a "quoted", name': np.array([True, False, True]),
}

each_ending = pytest.mark.parametrize("ending", ENDINGS)


def same_tables(found, expected):
    assert list(found) == list(expected)
    for name, column in expected.items():
        assert found[name].dtype.kind == column.dtype.kind
        np.testing.assert_array_equal(found[name], column)


@each_ending
def test_what_is_written_is_read_back_to_the_last_bit(ending, tmp_path):
    path = tmp_path / f"table.{ending}"
    write_table(path, TABLE)
    same_tables(read_table(path), TABLE)


@pytest.mark.parametrize(
    ("ending", "job"),
    [("csv", "read"), ("parquet", "read"), ("feather", "read"), ("parquet", "write"), ("feather", "write")],
)
def test_without_an_engine_the_extra_to_install_is_named(ending, job, without, tmp_path):
    path = tmp_path / f"table.{ending}"
    path.write_bytes(b"anything")
    without("pyarrow")
    with pytest.raises(ImportError, match=r"calibrant\[table\]"):
        _ = read_table(path) if job == "read" else write_table(path, TABLE, force=True)
    assert path.read_bytes() == b"anything"


# Other formats


@pytest.mark.parametrize("ending", ["parquet", "feather", "npz"])
@pytest.mark.parametrize("kept", [0.9])
def test_a_truncated_file_is_refused(ending, kept, tmp_path):
    path = tmp_path / f"table.{ending}"
    write_table(path, TABLE)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * kept)])
    with pytest.raises(ValueError, match=rf"table\.{ending} must be a readable .* Was it cut or damaged"):
        read_table(path)


def test_an_npz_that_would_run_code_is_read_without_its_objects(tmp_path):
    path = tmp_path / "table.npz"
    np.savez(path, p=np.array([0.3, 0.6]), y=np.array([1, 0]), x=np.array([print, None], dtype=object))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("readme.txt", "not an array")
        archive.writestr("sub/", "")
    assert read_forecast(path).y_prob.tolist() == [0.3, 0.6]
    with pytest.raises(
        TypeError, match=r"table\.npz must hold numbers, .* in 'x\.npy'; it holds Python objects.*astype"
    ):
        read_forecast(path, prob="x")


def test_a_pickle_that_calls_itself_npz_is_refused_without_advice_to_load_it(tmp_path):
    import pickle

    (tmp_path / "table.npz").write_bytes(pickle.dumps({"x": 1}))
    with pytest.raises(ValueError, match="no zip archive") as refusal:
        read_table(tmp_path / "table.npz")
    assert "allow_pickle" not in str(refusal.value)


def test_an_npz_holds_a_forecast_as_one_array(tmp_path):
    prob = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    np.savez(tmp_path / "table.npz", P=prob, y=np.array([2, 0]))
    forecast = read_forecast(tmp_path / "table.npz")
    assert forecast.forecast_columns == ("P_0", "P_1", "P_2")
    np.testing.assert_array_equal(forecast.y_prob, prob)


@pytest.mark.parametrize("name", ["allow_pickle", "file", "self", "a/b"])
def test_any_name_can_be_that_of_an_npz_column(name, tmp_path):
    table = {name: np.array([1, 2]), "p": np.array([0.5, 0.2])}
    write_table(tmp_path / "t.npz", table)
    same_tables(read_table(tmp_path / "t.npz"), table)
    with np.load(tmp_path / "t.npz") as found:
        assert list(found) == list(table)


def test_categories_are_read_as_their_words(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"label": ["cat", "dog"]}, schema={"label": polars.Categorical})
    frame.write_parquet(tmp_path / "table.parquet")
    same_tables(read_table(tmp_path / "table.parquet"), {"label": np.array(["cat", "dog"])})


@pytest.mark.parametrize("name", ["logits.npy", "LOGITS.NPY"])
def test_an_array_without_a_name_is_to_be_saved_as_npz(name, tmp_path):
    (tmp_path / name).write_text("")
    with pytest.raises(ValueError, match="must end in") as refused:
        read_table(tmp_path / name)
    hint = re.search(r"np\.savez\(.*?\)", str(refused.value))
    assert hint
    y, z = np.array([0, 1, 2]), np.eye(3)
    np.savez(tmp_path / "forecast.npz", **eval(hint[0].replace("np.savez('forecast.npz', ", "dict("), {"y": y, "z": z}))
    same_tables(read_table(tmp_path / "forecast.npz"), {"label": y, "logits": z})


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match="must be a file"):
        read_table(tmp_path)


# Arrays of an NPZ file that nobody asks for


def zipped(path, **members):
    """An NPZ file of arrays, and of bytes as they are."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                if isinstance(member, np.ndarray):
                    np.lib.format.write_array(stream, member)
                else:
                    for piece in member:
                        stream.write(piece)
    return path


def head(shape, dtype="<f8"):
    """The first bytes of an array."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"shape": shape, "fortran_order": False, "descr": dtype})
    return stream.getvalue()


@pytest.mark.filterwarnings("ignore:.*is read without the arrays")
def test_an_array_that_nobody_asks_for_is_not_decompressed(tmp_path):
    n = 2**22
    bomb = [head((n,)), *[bytes(2**20)] * (8 * n // 2**20)]  # 32 MB of zeros
    path = zipped(tmp_path / "t.npz", bomb=bomb, P=np.array([[0.3, 0.7], [0.6, 0.4]]), y=np.array([1, 0]))
    assert path.stat().st_size < 50_000
    tracemalloc.start()
    forecast = read_forecast(path)
    assert forecast.y_prob.tolist() == [[0.3, 0.7], [0.6, 0.4]]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ((2**40,), "<f8"),
        ((3,), "<f8"),
        ((2**50, 2**50), "<f8"),
        ((2,), "S2000000000"),
        ((2**50,), "<U0"),
        ((2**70,), "|O"),
        ((-1, -2), "<f8"),
    ],
)
def test_a_shape_that_the_size_of_an_array_does_not_bear_out_is_refused(shape, dtype, tmp_path):
    path = zipped(tmp_path / "t.npz", p=[head(shape, dtype), bytes(16)], y=np.array([1, 0]))
    with pytest.raises(
        ValueError, match=r"t\.npz must be a readable npz file; .*'p\.npy' declares a shape, .* bear out"
    ):
        read_table(path)


def test_a_size_that_so_few_bytes_cannot_hold_is_refused(tmp_path):
    path = zipped(tmp_path / "t.npz", p=[head((2,)), bytes(16)])
    data = bytearray(path.read_bytes())
    size = len(head((2,))) + 16
    declared = head((2**37,))
    assert len(declared) == len(head((2,)))
    at = data.rindex(b"PK\x01\x02")  # the size that the directory states
    data[at + 24 : at + 28] = (size + 2**30).to_bytes(4, "little")
    path.write_bytes(bytes(data))
    with pytest.raises(ValueError, match="does not bear out"):
        read_table(path)


def test_an_array_that_was_damaged_is_refused_when_it_is_read(tmp_path):
    path = zipped(tmp_path / "t.npz", p=np.random.default_rng(0).random(1000), y=np.arange(1000) % 2)
    data = bytearray(path.read_bytes())
    data[3000] ^= 255
    path.write_bytes(bytes(data))
    with pytest.raises(
        ValueError, match=r"t\.npz must hold a readable array 'p\.npy'; it is not: .*Was it cut or damaged"
    ):
        read_forecast(path)


def test_arrays_of_other_lengths_are_no_columns_of_a_forecast(tmp_path):
    np.savez(tmp_path / "t.npz", p_0=np.full(3, 0.5), p_1=np.full(2, 0.5), y=np.arange(3) % 2)
    with pytest.raises(ValueError, match=r"t\.npz must hold as many rows in 'p_0' as in 'p_1'; got 3 and 2\. Choose"):
        read_forecast(tmp_path / "t.npz")


def test_rows_of_an_npz_are_those_of_its_arrays(tmp_path):
    np.savez(tmp_path / "t.npz", p=np.arange(10) / 10, y=np.arange(10) % 2)
    table = read_table(tmp_path / "t.npz").taken(slice(2, 9)).taken(slice(1, 4))
    assert (table["p"] * 10).round().tolist() == [3, 4, 5]
    assert len(table.columns["p"]) == 3


def test_of_numbers_as_text_the_first_that_is_none_is_named(tmp_path):
    np.savez(tmp_path / "t.npz", label=[1, 0, 1], prob=np.array(["0.5", "0.25", "abc"]))
    with pytest.raises(TypeError, match="got 'abc' in row 2"):
        read_forecast(tmp_path / "t.npz")
