"""Table 3 of the survey of Silva Filho et al.: forecasts of three classes, and the true classes."""

from fractions import Fraction

import numpy as np

ROWS = """
1 0 0 1, .9 .1 0 1, .8 .1 .1 1, .7 .1 .2 1, .6 .3 .1 1, .4 .1 .5 1, 1/3 1/3 1/3 1, 1/3 1/3 1/3 1, .2 .4 .4 1, .1 .5 .4 1,
.8 .2 0 2, .7 0 .3 2, .5 .2 .3 2, .4 .4 .2 2, .4 .2 .4 2, .3 .4 .3 2, .2 .3 .5 2, .1 .6 .3 2, .1 .3 .6 2, 0 .2 .8 2,
.8 .2 0 3, .8 .1 .1 3, .8 0 .2 3, .6 0 .4 3, .3 0 .7 3, .2 .6 .2 3, .2 .4 .4 3, 0 .4 .6 3, 0 .3 .7 3, 0 .3 .7 3
"""
TABLE = np.array([[float(Fraction(v)) for v in row.split()] for row in ROWS.split(",")])
PROB, LABEL = TABLE[:, :3], TABLE[:, 3].astype(int)
CLASSES = [1, 2, 3]
