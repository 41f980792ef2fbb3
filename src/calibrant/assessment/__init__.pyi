from .advice import Advice as Advice
from .advice import advise as advise
from .table import assess as assess
from .table import Assessment as Assessment
from .table import measure as measure
from .table import scorer as scorer
