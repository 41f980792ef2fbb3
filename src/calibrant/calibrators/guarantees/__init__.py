"""What binning promises: bounds that hold with a stated probability."""
