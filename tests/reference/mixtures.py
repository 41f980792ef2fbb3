"""The survey's generative models from their printed definition: densities and Bayes' rule."""

import math

PRINTED = {1: [(-4, 960), (64, 1280)], 2: [(4, 980), (-72, 1024)], 3: [(0, 8)]}


def density(x, cls):
    parts = [math.exp(-((x - m) ** 2) / (2 * v)) / math.sqrt(2 * math.pi * v) for m, v in PRINTED[cls]]
    return sum(parts) / len(parts)


def posterior(x, classes):
    densities = [density(x, cls) for cls in classes]
    return [d / sum(densities) for d in densities]
