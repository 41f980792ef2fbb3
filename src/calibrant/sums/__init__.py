"""What chance does to sums: draws of labels and of rows."""
