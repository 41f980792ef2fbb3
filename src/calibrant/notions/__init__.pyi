from calibrant._core.problem import BinaryProblem as BinaryProblem
from .base import Notion as Notion
from .binary import Binary as Binary
from .class_wise import ClassWise as ClassWise
from .flattened import Flattened as Flattened
from .one_vs_rest import OneVsRest as OneVsRest
from .predicted import Confidence as Confidence
from .predicted import TopLabel as TopLabel
from .problems import binary_problems as binary_problems
from .shared_class_wise import SharedClassWise as SharedClassWise
from .thresholded import ThresholdedClassWise as ThresholdedClassWise
from .top_k import TopKConfidence as TopKConfidence
from .top_k import TopKLabel as TopKLabel
from .within_groups import WithinGroups as WithinGroups

# For the library itself, and for those who add a notion.
from .base import Part as Part
from .predicted import top_label as top_label
from .problems import single_problem as single_problem
from .by_word import as_notion as as_notion

__all__ = [
    "Binary",
    "BinaryProblem",
    "ClassWise",
    "Confidence",
    "Flattened",
    "Notion",
    "OneVsRest",
    "SharedClassWise",
    "ThresholdedClassWise",
    "TopKConfidence",
    "TopKLabel",
    "TopLabel",
    "WithinGroups",
    "binary_problems",
]
