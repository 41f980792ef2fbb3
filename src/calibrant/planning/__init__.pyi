from .rows_for import rows_for as rows_for
from .simulated import RowsNeeded as RowsNeeded
