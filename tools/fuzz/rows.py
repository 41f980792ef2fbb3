"""Lines that make labels ``y``, predictions ``p`` and weights ``w``: valid, unusual and hostile."""

from dataclasses import dataclass
from random import Random

SIZES = (1, 2, 3, 5, 10, 30, 60, 150)

# What may be done to them. "same": the numbers stay, so must every result. A reason: it must be refused. "": either.
Change = tuple[str, str]

TIMES = ("dt.timedelta(1)", "dt.date(2020, 1, 1)", "dt.datetime(2020, 1, 1)", "dt.time(1)")
CELLS = (*TIMES, "b'1'", "[0.5]", "{'a': 0.5}", "None")
NO_NUMBERS = (
    *(f"np.array({{x}}).astype({kind!r})" for kind in ("m8[s]", "m8[D]", "m8", "M8[s]", "M8[D]", "c8", "V8")),
    *(f"pl.Series([{cell}] * n)" for cell in CELLS),
    *(f"pa.array([{cell}] * n)" for cell in (*CELLS, "(1, 1, 1)")),
    "np.array([np.timedelta64(1, 's')] * n, dtype=object)", "[dt.timedelta(1)] * n", "[pd.Timedelta(1, 's')] * n",
    "np.zeros(n, dtype=[('a', float)])", "pd.Series(pd.to_timedelta(range(n)))", "pd.Series(pd.to_datetime(range(n)))",
    "pd.Series(pd.to_datetime(range(n))).dt.tz_localize('UTC')", "pd.Series(pd.period_range('2020', periods=n))",
    "pd.Series(pd.interval_range(0, n, n))", "pd.Series(pd.to_timedelta(range(n))).astype('category')",
    "pd.Series([dt.timedelta(1)] * n, dtype='duration[s][pyarrow]')",
    "pa.array([dt.timedelta(1)] * n).dictionary_encode()", "pa.array([dt.date(2020, 1, 1)] * n, pa.date64())",
)  # fmt: skip
"""Columns of all kinds of NumPy, pandas, polars and Arrow that hold neither numbers nor labels."""

NUMBERS = (
    *(f"np.array({{x}}).astype({kind!r})" for kind in ("f8", "g", ">f8", "O")),
    *(f"pd.array(np.ravel({{x}}).astype(float), dtype={kind!r})" for kind in ("Float64", "double[pyarrow]")),
    *(f"pd.Series(np.ravel({{x}}), dtype={kind!r})" for kind in ("category", "Sparse[float]")),
    "pl.Series(np.ravel({x})).cast(pl.Float64)", "pa.array(np.ravel({x}), pa.float64())",
    "pa.array(np.ravel({x}), pa.float64()).dictionary_encode()",
    "pa.chunked_array([np.ravel({x})[:1], np.ravel({x})[1:]])",
    *(f"[{kind}(float(cell)) for cell in np.ravel({{x}})]" for kind in ("Decimal", "Fraction")),
)  # fmt: skip
"""The same numbers in all kinds that hold any."""

WHOLE = (
    *(f"np.array({{x}}).astype({kind!r})" for kind in ("i1", "i2", "u1", "u2", "u4", "f2", ">i4")),
    *(f"pd.array({{x}}, dtype={kind!r})" for kind in ("Int8", "UInt64", "Float32", "int64[pyarrow]", "uint8[pyarrow]")),
    "pd.Series({x}).astype(pd.ArrowDtype(pa.decimal128(21, 2)))",
    *(f"pl.Series({{x}}).cast(pl.{kind})" for kind in ("Int8", "UInt64", "Float32", "Decimal(9, 2)")),
    *(f"pa.array({{x}}).cast(pa.{kind})" for kind in ("int8()", "uint64()", "float32()", "decimal128(20, 1)")),
)
"""Whole numbers in all kinds that hold any."""

ARRAYS = (
    "{x}.tolist()", "np.repeat({x}, 2, axis=0)[::2]", "{x}[::-1].copy()[::-1]", "np.broadcast_to({x}, {x}.shape)",
)  # fmt: skip
"""The same array with other strides, or that cannot be written to."""

WRONG = {
    "NaN among the numbers": "np.where({x} == {x}.max(), np.nan, {x})",
    "inf among the numbers": "np.where({x} == {x}.min(), np.inf, {x})",
    "-inf among the numbers": "np.where({x} == {x}.max(), -np.inf, {x})",
    "None among the numbers": "np.where({x} == {x}.max(), None, {x})",
    "a masked number": "np.ma.masked_array({x}, {x} == {x}.max())",
    "a row too few": "{x}[:-1]",
    "a row too many": "np.concatenate([{x}, {x}[:1]])",
    "complex numbers": "{x} + 0j",
    "a generator": "iter({x}.tolist())",
    "three dimensions": "np.full((len({x}), 2, 2), 0.5)",
}
"""Of labels, predictions and weights alike."""


def changes(x: str, same: tuple[str, ...], either: tuple[str, ...], wrong: dict[str, str]) -> tuple[Change, ...]:
    """Return the changes of ``y``, ``p`` or ``w``."""
    known = [("same", how) for how in same] + [("", how) for how in either] + list((WRONG | wrong).items())
    known += [(f"a kind that holds none: {how}", how) for how in NO_NUMBERS]
    return tuple((what, f"{x} = {how.replace('{x}', x)}") for what, how in known)


WORDS = "np.array(list('abcdefghijkl'))[y]"
LABELS = changes(
    "y",
    (*WHOLE, *ARRAYS, "tuple(y.tolist())", "pd.Series(y, index=range(len(y), 0, -1))", "y.astype(float)", "y.astype(object)"),
    (
        "pa.array(y)", "y[:, None]", "y[None, :]", "y.astype(bool)", "2 * y - 1", "-y", "y + 2**62", WORDS,
        f"{WORDS}.astype(object)", f"{WORDS}.astype('S')", f"pd.Categorical({WORDS})", "np.zeros_like(y)",
        "np.full_like(y, 7)", "np.ma.masked_array(y, False)", "[0, 'a', None, 2.5] * len(y)",
        f"np.char.add({WORDS}, '\\x00\\n')",
    ),
    {
        "fractions": "y + 0.5", "NA among the labels": "pd.Series(y, dtype='Int64').shift()",
        "no labels": "np.empty(0)", "None for labels": "None", "a word for labels": "'label'",
        "a number for labels": "1", "a dictionary of labels": "{'y': y}",
    },
)  # fmt: skip

PREDICTIONS = changes(
    "p",
    (
        *(f"p if p.ndim > 1 else {kind}" for kind in NUMBERS), *ARRAYS, "np.asfortranarray(p)",
        *(
            f"pd.DataFrame(p).astype({kind!r}) if p.ndim == 2 else p"
            for kind in ("Float64", "double[pyarrow]", "category", "Sparse[float]", "O")
        ),
        "p.astype(np.longdouble)", "p.astype('>f8')", "pl.DataFrame(p) if p.ndim == 2 else pl.Series(p)",
        "(pd.DataFrame if p.ndim == 2 else pd.Series)(p, index=range(len(p), 0, -1))",
    ),
    (
        "pa.table({f'c{k}': c for k, c in enumerate(p.T)}) if p.ndim == 2 else pa.array(p)",
        "p.astype(np.float32)", "p.astype('>f4')", "p.astype(np.float16)", "p.astype(object)",
        "np.round(p).astype(int)", "np.round(p).astype(bool)",
        "np.ma.masked_array(p, False)", "pd.DataFrame(p).convert_dtypes(dtype_backend='pyarrow')", "np.asmatrix(p)",
        "p * -0.0", "np.where(p == p.min(), 1e-300, p)", "np.where(p == p.min(), 5e-324, p)",
        "np.clip(p, 1e-17, 1 - 1e-16)", "p + 1e-9", "p - 1e-9", "p[:, :1] if p.ndim == 2 else p[:, None]",
        "p[..., None]", "np.stack([1 - p, p], axis=-1)", "np.broadcast_to(p[:1], p.shape)",
    ),
    {
        **{f"lengths of time, {kind}": f"(p * 9).astype({kind!r})" for kind in ("m8[s]", "m8[D]", "m8", "M8[s]")},
        "lengths of time of pandas": "pd.DataFrame(p).astype('m8[ns]')",
        "lengths of time of polars": "pl.DataFrame(p).cast(pl.Int64).cast(pl.Duration)",
        "dates of polars": "pl.DataFrame(p).cast(pl.Int32).cast(pl.Date)",
        "lengths of time of Arrow": "pa.table({'a': pa.array([dt.timedelta(0)] * n)})",
        "percent": "2 + 98 * p", "logits": "9 - np.log(p + 1e-3)", "negative numbers": "p - 2",
        "huge numbers": "p * 1e308 + 1e307",
        "a missing value in a data frame": "pd.DataFrame(p, dtype='Float64').shift()",
        "no predictions": "p[:0]", "None for predictions": "None", "a number for predictions": "0.5",
        "a prediction of no dimension": "np.array(0.5)", "words for predictions": "p.astype(str)",
        "bytes for predictions": "p.astype('S')", "a word for predictions": "'p_*'",
        "a set of predictions": "set(p.ravel().tolist())", "a sparse table": "sp.csr_array(np.atleast_2d(p))",
        "ragged rows": "[*p.tolist(), [0.5, 0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]",
        "a table without columns": "np.empty((len(p), 0))",
        "a data frame with words": "pd.DataFrame(p).assign(name='a')",
    },
)  # fmt: skip

COUNTS = "rng.integers(1, 4, n)"
PLAIN_COUNTS = tuple(
    ("count", f"w = {how}")
    for how in (COUNTS, f"{COUNTS}.astype(float)", f"{COUNTS}.astype(np.float32)", f"pd.Series({COUNTS})")
)
WEIGHTS = tuple(
    ("count" if what == "same" else what, f"w = {COUNTS}; {line}")
    for what, line in changes(
        "w",
        (*WHOLE, *ARRAYS),
        (
            "rng.random(n) + 0.1", "np.ones(n)", "np.arange(n)", "rng.integers(0, 2, n)", "np.arange(n) > 0",
            "rng.random(n) * 1e-90 + 1e-99", "rng.random(n) * 1e90", "np.where(np.arange(n) == 0, 1e90, 1e-90)",
            "(rng.random(n) + 0.1).tolist()", "pl.Series(rng.random(n) + 0.1)", "np.broadcast_to(2.5, n)",
            "np.eye(1, n)[0]", "1.0", "np.ones((n, 1))", "np.ones(n, dtype=object)", "'balanced'",
        ),
        {
            "negative weights": "np.full(n, -1.0)", "a negative weight": "np.where(np.arange(n) == 0, -1, 1)",
            "weights of zero": "np.zeros(n)", "words for weights": "np.full(n, 'a')",
        },
    )
)  # fmt: skip


@dataclass(frozen=True)
class Rows:
    """Lines that make the rows, and what is known of them."""

    lines: tuple[str, ...]
    plain: tuple[str, ...]
    """The same numbers as usual: NumPy arrays, without the changes."""
    n_classes: int
    is_table: bool
    marks: tuple[str, str, str]
    """What was done to labels, predictions and weights: "usual", "count", "same", "" or why they must be refused."""

    @property
    def refuse(self) -> str:
        """Why they must be refused; empty where they need not be."""
        return next((mark for mark in self.marks if mark not in ("usual", "count", "same", "")), "")

    @property
    def are_usual(self) -> bool:
        """Whether they are labels 0, 1, ..., valid probabilities in NumPy arrays, and weights None or counts."""
        return set(self.marks) <= {"usual", "count"}

    @property
    def are_same(self) -> bool:
        """Whether they are the usual numbers in an unusual container."""
        return "same" in self.marks and set(self.marks) <= {"usual", "count", "same"}


def drawn_rows(random: Random, *, hostile: float) -> Rows:
    """Draw rows; with a probability of ``hostile`` something is unusual or wrong with each of the three."""
    n, n_classes = random.choice(SIZES), random.choice((2, 2, 2, 3, 3, 4, 7))
    is_table = n_classes > 2 or random.random() < 0.4
    base = [f"rng = np.random.default_rng({random.randrange(10**6)})", f"n = {n}", *_table(random, n_classes)]
    base += [_labels(random, n_classes), *([] if is_table else ["p = p[:, 1].copy()"])]
    base += ["q = p**2 / (p**2).sum(1, keepdims=True)" if is_table else "q = p**2", "t = y.copy()"]
    weight = random.choice(PLAIN_COUNTS) if random.random() < 0.4 else ("usual", "w = None")
    if random.random() < hostile:
        weight = random.choice(WEIGHTS)
    changes = [random.choice(of) if random.random() < hostile else ("usual", "") for of in (LABELS, PREDICTIONS)]
    changed = [line for _, line in changes if line]
    marks = (changes[0][0], changes[1][0], weight[0])
    return Rows((*base, weight[1], *changed), (*base, weight[1]), n_classes, is_table, marks)


def _table(random: Random, n_classes: int) -> list[str]:
    """Return lines that make a table of probabilities: smooth, with ties, with zeros and ones, constant, or far out."""
    shape = f"(n, {n_classes})"
    spread = random.choice((0.05, 0.3, 1.0, 5.0))
    kinds = [
        [f"p = rng.dirichlet(np.full({n_classes}, {spread}), n)"],
        [f"p = rng.integers(0, 4, {shape}) + 0.0", "p[p.sum(1) == 0] = 1", "p /= p.sum(1, keepdims=True)"],
        [f"p = np.eye({n_classes})[rng.integers(0, {n_classes}, n)]"],
        [f"p = np.full({shape}, 1 / {n_classes})"],
        [f"p = np.exp(-rng.exponential(200, {shape}))", "p[:, 0] = 1", "p /= p.sum(1, keepdims=True)"],
        [f"p = rng.dirichlet(np.full({n_classes}, {spread}), 3)[rng.integers(0, 3, n)]"],
    ]
    return random.choices(kinds, (5, 2, 1, 1, 1, 1))[0]


def _labels(random: Random, n_classes: int) -> str:
    kinds = [
        f"y = (rng.random((n, 1)) > p.cumsum(1)).sum(1).clip(0, {n_classes - 1})",
        f"y = rng.integers(0, {n_classes}, n)",
        "y = p.argmax(1)",
        "y = p.argmin(1)",
        "y = np.zeros(n, dtype=int)",
        f"y = np.full(n, {n_classes - 1})",
    ]
    return random.choices(kinds, (6, 2, 1, 1, 1, 1))[0]
