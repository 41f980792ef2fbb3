from .page import plot_clinical as plot_clinical
from .page import write_report as write_report
