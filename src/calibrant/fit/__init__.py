"""What methods are fitted by: Newton's method, isotonic regression, folds, paths and trees."""
