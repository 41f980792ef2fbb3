from .monitor import Alarm as Alarm
from .monitor import Monitor as Monitor
from .monitor import MonitorTable as MonitorTable
