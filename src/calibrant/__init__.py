"""calibrant makes the probabilities of classifiers mean what they say.

It measures miscalibration, tests whether it is real, repairs it, and shows it. Everything public is in this
namespace and loads when it is first used.
"""

import lazy_loader as _lazy

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
