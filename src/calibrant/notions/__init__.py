"""A notion turns a multiclass forecast into weighted binary problems, and back.

A notion says only one thing: which `Part`s a forecast has. A part is a column of scores: for the rows ``rows`` the
probability of the class ``column``. Splitting, shares and merging follow from the parts, for every notion alike.
"""

from calibrant.notions.base import Notion, Part
from calibrant.notions.binary import Binary
from calibrant.notions.class_wise import ClassWise
from calibrant.notions.flattened import Flattened
from calibrant.notions.one_vs_rest import OneVsRest
from calibrant.notions.predicted import Confidence, TopLabel, top_label
from calibrant.notions.problems import binary_problems, single_problem
from calibrant.notions.shared_class_wise import SharedClassWise
from calibrant.notions.thresholded import ThresholdedClassWise
from calibrant.notions.top_k import TopKConfidence, TopKLabel
from calibrant.notions.within_groups import WithinGroups
from calibrant.notions.words import as_notion, is_of_predictions

__all__ = [
    "Binary",
    "ClassWise",
    "Confidence",
    "Flattened",
    "Notion",
    "OneVsRest",
    "Part",
    "SharedClassWise",
    "ThresholdedClassWise",
    "TopKConfidence",
    "TopKLabel",
    "TopLabel",
    "WithinGroups",
    "as_notion",
    "binary_problems",
    "is_of_predictions",
    "single_problem",
    "top_label",
]
