from .advice import Advice as Advice
from .advice import advise as advise
from .scorer import scorer as scorer
from .table import Assessment as Assessment
from .table import assess as assess
