"""What 10^12 rows would take, from what one row takes here: arithmetic, with its assumptions named."""

from __future__ import annotations

ROWS = 10**12
LABEL, PROBABILITY = 1.0, 4.0
"""Bytes of a row in Parquet: a label of few classes is coded, a probability in single precision does not shrink."""

CORES = 1000
STORE, WIRE = 100e6, 1e9
"""Bytes a second that a core gets from the object store, and that the machine which asks gets from the network."""

ROWS_OF_A_PARTITION = 10**8
SUMS = 0.5e6
"""Bytes of the sums of a partition, kept rows included, of ten classes."""

CORE_HOUR, REQUEST = 0.05, 0.4e-6
"""Dollars of a core for an hour, and of a request to the object store."""

BYTES_OF_A_REQUEST = 16e6


def on_paper(cpu_seconds_a_row: float, classes: int, rows: str) -> str:
    """Return the plan, given the processor seconds to read and sum a row, as streamed from a table of so many ``rows``."""
    volume = ROWS * (LABEL + PROBABILITY * classes)
    work, transfer = ROWS * cpu_seconds_a_row / 3600, volume / STORE / 3600
    longer, nanoseconds = max(work, transfer), cpu_seconds_a_row * 1e9
    partitions, requests = ROWS // ROWS_OF_A_PARTITION, volume / BYTES_OF_A_REQUEST
    dollars = longer * CORE_HOUR + requests * REQUEST
    steps = [
        ("bytes read", f"10^12 rows x ({LABEL:.0f} + {PROBABILITY:.0f} x {classes}) bytes", f"{volume / 1e12:.0f} TB"),
        ("to read, core hours", f"{volume / 1e12:.0f} TB / {STORE / 1e6:.0f} MB a second", f"{transfer:,.0f}"),
        ("to compute, core hours", f"10^12 rows x {nanoseconds:.0f} ns", f"{work:,.0f}"),
        (f"hours on {CORES:,} cores", "the longer of both: cores read while they compute", f"{longer / CORES:.2f}"),
        ("sums of all partitions", f"{partitions:,} x {SUMS / 1e6} MB", f"{partitions * SUMS / 1e9:.0f} GB"),
        ("sums that the program gets", f"64 groups x {SUMS / 1e6} MB, after a tree", f"{64 * SUMS / 1e6:.0f} MB"),
        ("that takes it", f"{64 * SUMS / 1e6:.0f} MB / {WIRE / 1e6:,.0f} MB a second", f"{64 * SUMS / WIRE:.2f} s"),
        (
            "dollars",
            f"{longer:,.0f} core hours x {CORE_HOUR} + {requests / 1e6:.1f} million requests x {REQUEST * 1e6:.1f} a million",
            f"{dollars:,.0f}",
        ),
    ]
    table = "\n".join(f"| {' | '.join(step)} |" for step in steps)
    return (
        ASSUMED.format(nanoseconds=nanoseconds, rows=rows)
        + f"\n\n| | arithmetic | result |\n|---|---|---|\n{table}\n\n"
        + LIMITS
    )


ASSUMED = f"""\
Nobody has run this. Assumed are {CORES:,} cores, each of which gets {STORE / 1e6:.0f} MB a second from the object
store; {CORE_HOUR} dollars for an hour of a core, and {REQUEST * 1e6:.1f} dollars for a million requests of
{BYTES_OF_A_REQUEST / 1e6:.0f} MB; partitions of 10^8 rows, and sums of {SUMS / 1e6} MB for each, kept rows included;
and the processor time of a row of "calibrant, streaming" with {{rows}} rows above, {{nanoseconds:.0f}} ns: reading,
decoding and summing, for six figures without intervals. Intervals need some more sums. Their noise is drawn once, from
the sums, and takes as long however many rows there are."""

LIMITS = """\
Counts are whole numbers of 64 bits, up to 9 x 10^18. Sums of scores, and the sums of which noise is drawn, are in
double precision. Numbers of rows are below 2^63: of Spark 2^30 partitions of 2^33 rows. What would have
to be looked at first: how long a scheduler takes for 10 000 tasks and more, and workers that fail in a run of that
size, whose partitions are read again."""
