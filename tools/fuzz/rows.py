"""Lines that make labels ``y``, predictions ``p`` and weights ``w``: valid, unusual and hostile."""

from dataclasses import dataclass
from random import Random

SIZES = (1, 2, 3, 5, 10, 30, 60, 150)

# What may be done to them. "same": the numbers stay, so must every result. A reason: it must be refused. "": either.
Change = tuple[str, str]

TIMES = ("dt.timedelta(1)", "dt.date(2020, 1, 1)", "dt.datetime(2020, 1, 1)", "dt.time(1)")


def of(kind: str, numbers: str) -> str:
    """Return source text of these numbers in a kind."""
    return kind.replace("{x}", numbers)


NO_NUMBERS = (
    *(f"np.array({{x}}).astype({kind!r})" for kind in ("m8[s]", "m8[D]", "m8", "M8[s]", "M8[D]", "c8", "V8")),
    "np.array([np.timedelta64(1, 's')] * n, dtype=object)",
    "[dt.timedelta(1)] * n",
    "[pd.Timedelta(1, 's')] * n",
    "np.zeros(n, dtype=[('a', float)])",
    "pd.Series(pd.to_timedelta(range(n)))",
    "pd.Series(pd.to_datetime(range(n)))",
    "pd.Series(pd.to_datetime(range(n))).dt.tz_localize('UTC')",
    "pd.Series(pd.period_range('2020', periods=n))",
    "pd.Series(pd.interval_range(0, n, n))",
    "pd.Series(pd.to_timedelta(range(n))).astype('category')",
    "pd.Series([dt.timedelta(1)] * n, dtype='duration[s][pyarrow]')",
    *(f"pl.Series([{cell}] * n)" for cell in TIMES),
    *(f"pl.Series([{cell}] * n)" for cell in ("b'1'", "[0.5]", "{'a': 0.5}", "None")),
    *(f"pa.array([{cell}] * n)" for cell in TIMES),
    *(f"pa.array([{cell}] * n)" for cell in ("b'1'", "[0.5]", "{'a': 0.5}", "None", "(1, 1, 1)")),
    "pa.array([dt.timedelta(1)] * n).dictionary_encode()",
    "pa.array([dt.date(2020, 1, 1)] * n, pa.date64())",
)
"""Columns of all kinds of NumPy, pandas, polars and Arrow that hold neither numbers nor labels."""

NUMBERS = (
    *(f"np.array({{x}}).astype({kind!r})" for kind in ("f4", "f8", "g", ">f8", ">f4", "O")),
    *(f"pd.array(np.ravel({{x}}).astype(float), dtype={kind!r})" for kind in ("Float64", "double[pyarrow]")),
    "pd.Series(np.ravel({x}), dtype='category')",
    "pd.Series(np.ravel({x}), dtype='Sparse[float]')",
    "pl.Series(np.ravel({x})).cast(pl.Float64)",
    "pa.array(np.ravel({x}), pa.float64())",
    "pa.array(np.ravel({x}), pa.float64()).dictionary_encode()",
    "pa.chunked_array([np.ravel({x})[:1], np.ravel({x})[1:]])",
    "[Decimal(float(cell)) for cell in np.ravel({x})]",
    "[Fraction(float(cell)) for cell in np.ravel({x})]",
)
"""The same numbers in all kinds that hold any."""

WHOLE = (
    *(f"np.array({{x}}).astype({kind!r})" for kind in ("i1", "i2", "u1", "u2", "u4", "f2", ">i4")),
    *(f"pd.array({{x}}, dtype={kind!r})" for kind in ("Int8", "UInt64", "Float32", "int64[pyarrow]", "uint8[pyarrow]")),
    "pd.Series({x}).astype(pd.ArrowDtype(pa.decimal128(21, 2)))",
    *(f"pl.Series({{x}}).cast(pl.{kind})" for kind in ("Int8", "UInt64", "Float32", "Decimal(9, 2)")),
    *(f"pa.array({{x}}).cast(pa.{kind})" for kind in ("int8()", "uint64()", "float32()", "decimal128(20, 1)")),
)
"""Whole numbers in all kinds that hold any."""

LABELS: tuple[Change, ...] = (
    *(("same", f"y = {of(kind, 'y')}") for kind in WHOLE),
    *((f"labels of a kind that holds none: {kind}", f"y = {of(kind, 'y')}") for kind in NO_NUMBERS),
    ("same", "y = y.tolist()"),
    ("same", "y = tuple(y.tolist())"),
    ("same", "y = pd.Series(y, index=range(len(y), 0, -1))"),
    ("same", "y = np.repeat(y, 2)[::2]"),
    ("same", "y = y[::-1].copy()[::-1]"),
    ("same", "y = y.copy(); y.flags.writeable = False"),
    ("same", "y = y.astype(float)"),
    ("same", "y = y.astype(object)"),
    ("", "y = pa.array(y)"),
    ("", "y = y[:, None]"),
    ("", "y = y[None, :]"),
    ("", "y = y.astype(bool)"),
    ("", "y = 2 * y - 1"),
    ("", "y = -y"),
    ("", "y = y + 2**62"),
    ("", "y = np.array(list('abcdefghijkl'))[y]"),
    ("", "y = np.array(list('abcdefghijkl'))[y].astype(object)"),
    ("", "y = np.array(list('abcdefghijkl'))[y].astype('S')"),
    ("", "y = pd.Categorical(np.array(list('abcdefghijkl'))[y])"),
    ("", "y = np.zeros_like(y)"),
    ("", "y = np.full_like(y, 7)"),
    ("", "y = y.astype('M8[D]')"),
    ("", "y = np.ma.masked_array(y, False)"),
    ("", "y = [0, 'a', None, 2.5] * len(y)"),
    ("", "y = np.char.add(np.array(list('abcdefghijkl'))[y], '\\x00\\n')"),
    ("fractions as labels", "y = y + 0.5"),
    ("NaN among the labels", "y = y.astype(float); y[0] = np.nan"),
    ("None among the labels", "y = y.astype(object); y[-1] = None"),
    ("NA among the labels", "y = pd.Series(y, dtype='Int64'); y.iloc[0] = pd.NA"),
    ("inf among the labels", "y = y.astype(float); y[-1] = np.inf"),
    ("a masked label", "y = np.ma.masked_array(y, np.arange(len(y)) == 0)"),
    ("a label too few", "y = y[:-1]"),
    ("a label too many", "y = np.append(y, y[:1])"),
    ("no labels", "y = np.empty(0)"),
    ("None for labels", "y = None"),
    ("a word for labels", "y = 'label'"),
    ("a number for labels", "y = 1"),
    ("complex labels", "y = y + 0j"),
    ("a generator of labels", "y = iter(y.tolist())"),
    ("a dictionary of labels", "y = {'y': y}"),
    ("labels in three dimensions", "y = np.zeros((len(y), 2, 2))"),
)

PREDICTIONS: tuple[Change, ...] = (
    *(("same" if "f4" not in kind else "", f"p = p if p.ndim > 1 else {of(kind, 'p')}") for kind in NUMBERS),
    *((f"predictions of a kind that holds none: {kind}", f"p = {of(kind, 'p')}") for kind in NO_NUMBERS),
    *(
        (f"predictions of a kind that holds none: {kind}", f"p = (p * 9).astype({kind!r})")
        for kind in ("m8[s]", "m8[D]", "m8", "M8[s]")
    ),
    ("lengths of time of pandas for predictions", "p = pd.DataFrame(p).astype('m8[ns]')"),
    ("lengths of time of polars for predictions", "p = pl.DataFrame(p).cast(pl.Int64).cast(pl.Duration)"),
    ("dates of polars for predictions", "p = pl.DataFrame(p).cast(pl.Int32).cast(pl.Date)"),
    ("lengths of time of Arrow for predictions", "p = pa.table({'a': pa.array([dt.timedelta(0)] * n)})"),
    *(
        ("same", f"p = pd.DataFrame(p).astype({kind!r}) if p.ndim == 2 else p")
        for kind in ("Float64", "double[pyarrow]", "category", "Sparse[float]", "O")
    ),
    ("same", "p = p.tolist()"),
    ("same", "p = np.asfortranarray(p)"),
    ("same", "p = np.repeat(p, 2, axis=0)[::2]"),
    ("same", "p = p[::-1].copy()[::-1]"),
    ("same", "p = p.copy(); p.flags.writeable = False"),
    ("same", "p = p.astype(np.longdouble)"),
    ("same", "p = p.astype('>f8')"),
    (
        "same",
        "p = pd.DataFrame(p, index=range(len(p), 0, -1)) if p.ndim == 2 else pd.Series(p, index=range(len(p), 0, -1))",
    ),
    ("same", "p = pl.DataFrame(p) if p.ndim == 2 else pl.Series(p)"),
    ("", "p = pa.table({f'c{k}': c for k, c in enumerate(p.T)}) if p.ndim == 2 else pa.array(p)"),
    ("", "p = p.astype(np.float32)"),
    ("", "p = p.astype(np.float16)"),
    ("", "p = p.astype(object)"),
    ("", "p = np.round(p).astype(int)"),
    ("", "p = np.round(p).astype(bool)"),
    ("", "p = np.ma.masked_array(p, False)"),
    ("", "p = pd.DataFrame(p).convert_dtypes(dtype_backend='pyarrow')"),
    ("", "p = np.asmatrix(p)"),
    ("", "p = p * -0.0"),
    ("", "p = np.where(p == p.min(), 1e-300, p)"),
    ("", "p = np.where(p == p.min(), 5e-324, p)"),
    ("", "p = np.clip(p, 1e-17, 1 - 1e-16)"),
    ("", "p = p + 1e-9"),
    ("", "p = p - 1e-9"),
    ("", "p = p[:, :1] if p.ndim == 2 else p[:, None]"),
    ("", "p = p[..., None]"),
    ("", "p = np.stack([1 - p, p], axis=-1)"),
    ("", "p = np.broadcast_to(p[:1], p.shape)"),
    ("percent", "p = 2 + 98 * p"),
    ("logits", "p = 9 - np.log(p + 1e-3)"),
    ("negative numbers", "p = p - 2"),
    ("huge numbers", "p = p * 1e308 + 1e307"),
    ("NaN among the predictions", "p = p.copy(); p.flat[0] = np.nan"),
    ("inf among the predictions", "p = p.copy(); p.flat[-1] = np.inf"),
    ("-inf among the predictions", "p = p.copy(); p.flat[-1] = -np.inf"),
    ("None among the predictions", "p = p.astype(object); p.flat[0] = None"),
    ("a masked prediction", "p = np.ma.masked_array(p, p == p.max())"),
    ("a missing value in a data frame", "p = pd.DataFrame(p, dtype='Float64'); p.iloc[0, 0] = pd.NA"),
    ("a prediction too few", "p = p[:-1]"),
    ("no predictions", "p = p[:0]"),
    ("None for predictions", "p = None"),
    ("a number for predictions", "p = 0.5"),
    ("a prediction of no dimension", "p = np.array(0.5)"),
    ("complex predictions", "p = p + 0j"),
    ("words for predictions", "p = p.astype(str)"),
    ("bytes for predictions", "p = p.astype('S')"),
    ("a word for predictions", "p = 'p_*'"),
    ("a set of predictions", "p = set(p.ravel().tolist())"),
    ("a generator of predictions", "p = iter(p.tolist())"),
    ("a sparse table", "p = sp.csr_array(np.atleast_2d(p))"),
    ("ragged rows", "p = [*p.tolist(), [0.5, 0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]"),
    ("a table without columns", "p = np.empty((len(p), 0))"),
    ("a data frame with words", "p = pd.DataFrame(p).assign(name='a')"),
    ("predictions in three dimensions", "p = np.full((len(p), 2, 2), 0.5)"),
)

PLAIN_COUNTS: tuple[Change, ...] = (
    ("count", "w = rng.integers(1, 4, n)"),
    ("count", "w = rng.integers(1, 4, n).astype(float)"),
    ("count", "w = rng.integers(1, 4, n).astype(np.float32)"),
    ("count", "w = pd.Series(rng.integers(1, 4, n))"),
)

WEIGHTS: tuple[Change, ...] = (
    *(("count", f"w = rng.integers(1, 4, n); w = {of(kind, 'w')}") for kind in WHOLE),
    *(
        (f"weights of a kind that holds none: {kind}", f"w = {of(kind, 'rng.integers(1, 4, n)')}")
        for kind in NO_NUMBERS
    ),
    *PLAIN_COUNTS,
    ("", "w = rng.random(n) + 0.1"),
    ("", "w = np.ones(n)"),
    ("", "w = np.arange(n)"),
    ("", "w = rng.integers(0, 2, n)"),
    ("", "w = np.arange(n) > 0"),
    ("", "w = rng.random(n) * 1e-90 + 1e-99"),
    ("", "w = rng.random(n) * 1e90"),
    ("", "w = np.where(np.arange(n) == 0, 1e90, 1e-90)"),
    ("", "w = (rng.random(n) + 0.1).tolist()"),
    ("", "w = pl.Series(rng.random(n) + 0.1)"),
    ("", "w = np.broadcast_to(2.5, n)"),
    ("", "w = np.zeros(n); w[0] = 1"),
    ("", "w = 1.0"),
    ("", "w = np.ones((n, 1))"),
    ("", "w = np.ones(n, dtype=object)"),
    ("", "w = 'balanced'"),
    ("negative weights", "w = np.full(n, -1.0)"),
    ("a negative weight", "w = np.ones(n); w[0] = -1"),
    ("NaN among the weights", "w = np.ones(n); w[-1] = np.nan"),
    ("inf among the weights", "w = np.ones(n); w[-1] = np.inf"),
    ("None among the weights", "w = np.ones(n, dtype=object); w[-1] = None"),
    ("weights of zero", "w = np.zeros(n)"),
    ("a weight too many", "w = np.ones(n + 1)"),
    ("words for weights", "w = np.full(n, 'a')"),
    ("complex weights", "w = np.ones(n) + 1j"),
    ("a masked weight", "w = np.ma.masked_array(np.ones(n), np.arange(n) == 0)"),
)


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
