"""Convex logits whose groups of weights have Gaussian priors, and the variances of these by Laplace evidence."""
