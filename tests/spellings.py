"""The keywords of `calibration_error` that a metric stands for."""

from dataclasses import fields

from calibrant.lenses import InBins
from calibrant.metrics.kinds import ThroughLens


def spelling_of(metric):
    """Return the keywords; None of a metric that is no point of it."""
    if not (isinstance(metric, ThroughLens) and isinstance(metric.lens, InBins)):
        return None
    words = {"notion": metric.notion, **{field.name: getattr(metric.size, field.name) for field in fields(metric.size)}}
    return words if metric.lens.binning is None else {**words, "binning": metric.lens.binning}
