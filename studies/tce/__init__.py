"""The test-based calibration error: Matsubara, Tax, Mudd and Guy, UAI 2023."""
