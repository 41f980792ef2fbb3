from .rows_for import rows_for as rows_for
from calibrant.planning.simulated import RowsNeeded as RowsNeeded
