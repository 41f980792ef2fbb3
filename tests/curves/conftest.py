"""Pictures are looked at for what they hold; the tests that ask where it lies are marked ``settled``."""

import pytest

try:
    import matplotlib
except ImportError:
    collect_ignore_glob = ["test_*.py"]
else:
    matplotlib.use("agg")


@pytest.fixture(autouse=True)
def laid_out_where_places_matter(request):
    """Lay no figure out until nothing moves, but for a test that is marked ``settled``."""
    if "settled" not in request.keywords:
        request.getfixturevalue("unsettled")
