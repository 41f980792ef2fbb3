from .advice import Advice as Advice
from .advice import advise as advise
from .measure import measure as measure
from .scorer import scorer as scorer
from .table import Assessment as Assessment
from .table import assess as assess
