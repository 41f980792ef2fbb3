from .advice import Advice as Advice
from .advice import advise as advise
from calibrant.assessment.table import measure as measure
from calibrant.assessment.table import scorer as scorer
from .table import Assessment as Assessment
from .table import assess as assess
