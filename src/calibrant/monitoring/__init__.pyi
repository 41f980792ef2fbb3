from .monitor import Monitor as Monitor
from .table import Alarm as Alarm
from .table import MonitorTable as MonitorTable
