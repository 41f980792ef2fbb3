"""Mean scores taken apart: over rows with the same forecast (Kull and Flach), over bins (Murphy), by isotonic fit (CORP)."""
