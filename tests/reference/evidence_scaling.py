"""Evidence scaling from its definition: one design tensor, whole matrices, and iterations that go on until nothing moves."""

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit, log_softmax, logit, ndtri, softmax


def log_of(prob, floor):
    return np.log(np.maximum(prob, 1e-12)) if floor == 0.0 else np.log(prob + floor / prob.shape[1])


def loss_of(prob, label, weight, floor, t, spread):
    """Log loss of all rows at the exponent exp(t), the normal prior of t, and what a floor costs."""
    z = log_softmax(np.exp(t) * log_of(prob, floor), axis=1)
    return -weight @ z[np.arange(len(z)), label] + 0.5 * (t / spread) ** 2 + (0.7 if floor else 0.0)


def standardisation(prob, label, weight):
    """Exponent, floor and share of the uniform forecast."""
    spread = 2.0
    for _ in range(4):
        found = []
        for floor in (0.0, 1e-7, 1e-5, 1e-4, 1e-3, 4e-3, 1.6e-2, 6e-2):
            best = minimize_scalar(
                lambda t, floor=floor, spread=spread: loss_of(prob, label, weight, floor, t, spread),
                bracket=(-0.5, 0.5),
                tol=1e-10,
            )
            found.append((best.fun, best.x, floor))
        _, t, floor = min(found)
        spread = np.sqrt((0.1**2 + t**2) / 2.0)
    n, k = weight.sum(), prob.shape[1]
    raised = softmax(np.exp(t) * log_of(prob, floor), axis=1)
    of_true = raised[np.arange(len(prob)), label]
    c = min(max(2.0 * np.sqrt(weight @ (1.0 - raised.max(axis=1)) / n), 0.05), 1.0)
    share = c / (n + c + 1.0)
    for _ in range(30):
        parts = weight * (share / k) / ((1 - share) * of_true + share / k)
        before, share = share, (c + parts[k * of_true < 0.5].sum()) / (n + c + 1.0)
        if abs(share - before) < 1e-3 * before:
            break
    return np.exp(t), floor, min(share, 0.5)


def standardised(prob, exponent, floor, uniform):
    k = prob.shape[1]
    return np.log((1 - uniform) * softmax(exponent * log_of(prob, floor), axis=1) + uniform / k)


def quantile(x, weight, at):
    """The value at which the running weight passes the fraction, or the mean of two where it meets it."""
    order = np.argsort(x, kind="stable")
    running = np.cumsum(weight[order]) / weight.sum()
    lower = x[order][np.argmax(running >= at - 1e-12)]
    upper = x[order][np.argmax(running >= min(at + 1e-12, running[-1]))]
    return (lower + upper) / 2.0


def hinges(x, knots, middle):
    """Columns of hinges, each times the root of the gap around its knot."""
    gaps = np.maximum(np.gradient(knots), 1e-3) if len(knots) > 1 else np.ones(1)
    for knot, gap in zip(knots, gaps, strict=True):
        if abs(knot - middle) < 1e-9:
            yield np.sqrt(gap) * abs(x - knot) / 2.0
        else:
            yield np.sqrt(gap) * (np.maximum(knot - x, 0.0) if knot < middle else np.maximum(x - knot, 0.0))


def spread(x, weight):
    return np.sqrt(np.average((x - np.average(x, weights=weight)) ** 2, weights=weight))


def design_of_two(z, weight, new):
    """The tensor of shape (n, 2, d) of new rows, and the group of each of its columns."""

    def features(rows):
        log_odds, both = rows[:, 1] - rows[:, 0], rows.sum(axis=1)
        fitted, fitted_both = z[:, 1] - z[:, 0], z.sum(axis=1)
        doubt = weight * np.exp(z[:, 0] + z[:, 1])
        unit, unit_both = (min(spread(x, doubt), 1.0) + 1e-9 for x in (fitted, fitted_both))
        yield "temp", (log_odds - np.average(fitted, weights=doubt)) / unit
        yield "bias", np.ones(len(rows))
        yield "asym", (both - np.average(fitted_both, weights=doubt)) / unit_both
        knots = [quantile(fitted / unit, doubt, at) for at in np.linspace(0.02, 0.98, 15)]
        knots += [quantile(fitted / unit, weight, at) for at in np.linspace(0.02, 0.98, 8)]
        middle = quantile(fitted / unit, doubt, 0.5)
        knots = np.sort(knots)
        knots = knots[np.append(True, np.diff(knots) > 1e-9)]
        for hinge in hinges(log_odds / unit, knots, middle):
            yield "curve", hinge
        seen, n = np.unique(fitted), weight.sum()
        below = np.array([weight[fitted < x].sum() + weight[fitted == x].sum() / 2.0 for x in seen])
        score = ndtri(np.interp(log_odds, seen, np.clip(below / n, 0.5 / n, 1.0 - 0.5 / n)))
        yield "rank", score
        for knot in ndtri(np.linspace(0.06, 0.94, 9)):
            opens = abs(score - knot) / 2.0 if abs(knot) < 1e-9 else np.maximum(np.sign(knot) * (score - knot), 0.0)
            yield "rank", 0.6 * opens

    names, columns = zip(*features(new), strict=True)
    return np.stack([np.zeros((len(new), len(names))), np.stack(columns, axis=1)], axis=1), list(names)


MOST_WITH_PROB = 50


def design_of_many(z, weight, new):
    """The same of three classes or more."""
    k = z.shape[1]
    share, q, q_new = weight / weight.sum(), np.exp(z), np.exp(new)
    names, columns = ["temp"], [new]
    doubt = (weight[:, None] * q * (1 - q)).ravel()
    knots = np.array([quantile(z.ravel(), doubt, at) for at in np.linspace(0.03, 0.97, 8)])
    for hinge in hinges(new, knots, quantile(z.ravel(), doubt, 0.5)):
        names.append("curve")
        columns.append(hinge)
    for number in (lambda z: -(np.exp(z) * z).sum(axis=1), lambda z: z.max(axis=1)):
        names.append("row")
        columns.append(new * (number(new) - share @ number(z))[:, None])
    unit = min(np.sqrt((share @ (z - share @ z) ** 2).mean()), 1.0) + 1e-9
    prob_unit = min(5 * np.sqrt((share @ (q - share @ q) ** 2).mean()), 1.0) + 1e-9
    centred, prob = (new - share @ z) / unit, (q_new - share @ q) / prob_unit
    for j in range(k):
        own = [("bias", np.ones(len(new)))]
        own += [("slope" if i == j else "mat", centred[:, i]) for i in range(k)]
        own += [("prob", prob[:, i]) for i in range(k) if k <= MOST_WITH_PROB]
        own += [("sqz", 0.1 * centred[:, i] ** 2) for i in range(k)]
        for name, column in own:
            names.append(name)
            columns.append(column[:, None] * (np.arange(k) == j))
    return np.stack(columns, axis=2), names


def derivatives(z, design, label, weight, w):
    """Log loss of all rows, its gradient and its Hessian."""
    log_prob = log_softmax(z + design @ w, axis=1)
    prob, occurred = np.exp(log_prob), np.eye(z.shape[1])[label]
    covariance = prob[:, :, None] * np.eye(z.shape[1]) - prob[:, :, None] * prob[:, None, :]
    gradient = np.einsum("i,ijd,ij->d", weight, design, prob - occurred)
    hessian = np.einsum("i,ijd,ijk,ike->de", weight, design, covariance, design, optimize=True)
    return -weight @ (log_prob * occurred).sum(axis=1), gradient, hessian


def lowest(z, design, label, weight, ridge, start):
    """Weights of least penalised loss, by Newton's steps that are halved until they help."""
    w = start
    for _ in range(100):
        value, gradient, hessian = derivatives(z, design, label, weight, w)
        value += 0.5 * ridge @ w**2
        step = -np.linalg.solve(hessian + np.diag(ridge), gradient + ridge * w)
        gain = -(gradient + ridge * w) @ step
        if gain < 1e-16:
            break
        while (
            gain > 1e-9 and derivatives(z, design, label, weight, w + step)[0] + 0.5 * ridge @ (w + step) ** 2 > value
        ):
            step = step / 2.0
        w = w + step
    return w, hessian


def most_evident(z, design, names, label, weight, prior):
    """Weights and log-precisions at which MacKay's update with the prior changes nothing any more."""
    groups = list(prior)
    member = np.array([[name == group for name in names] for group in groups])
    rho, w = np.array([prior[group][0] for group in groups]), np.zeros(len(names))
    for _ in range(300):
        ridge = np.exp(rho) @ member
        w, hessian = lowest(z, design, label, weight, ridge, w)
        variance = np.linalg.inv(hessian + np.diag(ridge)).diagonal()
        new = np.empty(len(groups))
        for h, (mean, sd) in enumerate(prior.values()):
            gamma = member[h].sum() - np.exp(rho[h]) * variance[member[h]].sum()
            square = (w[member[h]] ** 2).sum()

            def minus_slope(x, gamma=gamma, square=square, mean=mean, sd=sd):
                return gamma / 2 - np.exp(x) * square / 2 - (x - mean) / sd**2

            new[h] = np.clip(brentq(minus_slope, -60, 60), -6, 14)
        moved, rho = abs(new - rho).max(), rho + np.clip(new - rho, -1.0, 1.0)
        if moved < 1e-8:
            break
    return w, dict(zip(groups, rho, strict=True)), hessian


def prior_of(k, exponent):
    """Mean and spread of the logarithm of each precision, as the table of the method states them."""
    x, size = min(abs(np.log(exponent)), 2.5), np.log(k / 6.0)
    two = {"temp": (4, 0, 0, 0.5), "bias": (2.44, 0, -0.58, 1.41), "asym": (3.04, 0, -0.44, 1.63)}
    two |= {"curve": (3.54, 0, -0.89, 2.56), "rank": (3.54, 0, -0.89, 2.0)}
    many = {"temp": (4, 0, 0, 0.5), "curve": (3.30, 0.01, -0.64, 2.03), "row": (2.62, 1.07, -0.31, 1.84)}
    many |= {"bias": (2.84, 1.43, -0.85, 2.13), "slope": (4.67, 1.45, -0.97, 1.90), "mat": (4.08, 0.32, -0.46, 2.05)}
    many |= {"prob": (1.90, -0.21, -0.40, 1.86), "sqz": (4.19, 0.91, -1.60, 2.50)}
    many = {h: one for h, one in many.items() if h != "prob" or k <= MOST_WITH_PROB}
    return {h: (a + b * size + c * x, s) for h, (a, b, c, s) in (two if k == 2 else many).items()}


def fitted_fast(prob, label, weight, new):
    """Weights and share of the fast form, their Hessian before the step to weaker precisions, and the new rows' design."""
    n, k = weight.sum(), prob.shape[1]
    told = standardisation(prob, label, weight)
    z, z_new = standardised(prob, *told), standardised(new, *told)
    design_of = design_of_two if k == 2 else design_of_many
    (design, names), (design_new, _) = design_of(z, weight, z), design_of(z, weight, z_new)
    w, rho, hessian = most_evident(z, design, names, label, weight, prior_of(k, told[0]))
    ridge = np.exp([rho[name] for name in names])
    value = derivatives(z, design, label, weight, w)[0]
    evidence = -value - ridge @ w**2 / 2 + np.log(ridge).sum() / 2
    evidence -= np.linalg.slogdet(hessian + np.diag(ridge))[1] / 2
    of_true = np.maximum(prob[np.arange(len(prob)), label], 1e-12)
    advantage = evidence - weight @ np.log(of_true) - 1.0
    delta = 0.0 if k == 2 else np.clip(np.log10(n / 100), 0, 1)
    ridge = np.exp([rho[name] - (name != "temp") * delta for name in names])
    w, _ = lowest(z, design, label, weight, ridge, w)
    return w, expit(advantage + 1.0), hessian + np.diag(ridge), rho, z_new, design_new


def fast(prob, label, weight, new):
    """Probabilities of new rows by the fast form, and the log-precisions."""
    w, share, _, rho, z_new, design_new = fitted_fast(prob, label, weight, new)
    return share * softmax(z_new + design_new @ w, axis=1) + (1 - share) * new, rho


def interval(prob, label, weight, new, reach):
    """Ends of intervals of the fast form, ``reach`` standard deviations of log-odds away: derivatives are differences."""
    w, share, a, _, z_new, design_new = fitted_fast(prob, label, weight, new)
    covariance = np.linalg.inv(a)

    def of_map(weights):
        return softmax(z_new + design_new @ weights, axis=1)

    step = 1e-5
    slopes = np.stack([(of_map(w + e) - of_map(w - e)) / (2 * step) for e in step * np.eye(len(w))])
    one = of_map(w)
    mixed = share * one + (1 - share) * new
    variance = share * (np.einsum("dij,de,eij->ij", slopes, covariance, slopes) + (one - mixed) ** 2)
    variance += (1 - share) * (new - mixed) ** 2
    distance = reach * np.sqrt(variance) / (mixed * (1 - mixed))
    return np.stack([expit(logit(mixed) - distance), expit(logit(mixed) + distance)], axis=-1)


def log_bayes_factor(prob, label, weight, log_precisions, wanted):
    """Logarithm of the mean Bayes factor, to the second order at the forecast, of columns of the design that are wanted."""
    k = prob.shape[1]
    z = standardised(prob, 1.0, 0.0, 1e-9)
    design, names = (design_of_two if k == 2 else design_of_many)(z, weight, z)
    columns = [c for c, name in enumerate(names) if wanted(design[:, :, c], name)]
    _, gradient, hessian = derivatives(z, design[:, :, columns], label, weight, np.zeros(len(columns)))
    factors = []
    for of_group in log_precisions:
        rho = np.array([of_group[names[c]] for c in columns])
        a = hessian + np.diag(np.exp(rho))
        gain = gradient @ np.linalg.inv(a) @ gradient - np.linalg.slogdet(a)[1] + rho.sum()
        factors.append(np.exp(gain / 2.0))
    return np.log(np.mean(factors))
