from .monitor import Monitor as Monitor
from calibrant.monitoring.monitor import Alarm as Alarm
from calibrant.monitoring.monitor import MonitorTable as MonitorTable
