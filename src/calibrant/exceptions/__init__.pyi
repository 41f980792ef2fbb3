from calibrant._core.warnings import CalibrationWarning as CalibrationWarning
