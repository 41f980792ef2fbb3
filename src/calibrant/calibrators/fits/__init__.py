"""What methods are fitted by: the solvers and the families of maps that several files share."""
