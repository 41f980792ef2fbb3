"""Section 4.2 of the paper: five data sets, five algorithms, three splits."""
