"""What everything stands on: problems, labels, weights, links, the registry, and the boundary where input is checked."""
