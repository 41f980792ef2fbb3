"""Top-label calibration and multiclass-to-binary reductions: Gupta and Ramdas, ICLR 2022."""
