from calibrant.report.page import write_report as write_report
