from .rows_for import rows_for as rows_for
from .rows_needed import RowsNeeded as RowsNeeded
