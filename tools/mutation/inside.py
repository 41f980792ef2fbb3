"""A plugin of pytest in the process of a mutant: it takes little memory, and looks for no smaller example of what failed."""

import resource

from hypothesis import Phase, settings

GIGABYTES = 6
phases = (Phase.explicit, Phase.generate)

resource.setrlimit(resource.RLIMIT_DATA, (GIGABYTES << 30, GIGABYTES << 30))
settings.register_profile("mutant", derandomize=True, deadline=None, max_examples=10, phases=phases, database=None)
