"""Makes golden.json: what scipy and numpy say. Run it in this folder: pip install numpy scipy; python make.py

The tests read golden.json only. Where scipy has no function, the value is counted here in another way than in src.
"""

import itertools
import json
import math

import numpy
import scipy
from scipy import optimize, special, stats

rng = numpy.random.default_rng(20260101)
CONFIDENCES = [0.8, 0.95, 0.99]
SIZES = [1, 2, 3, 5, 10, 37, 100, 369, 1000, 10_000, 100_000, 1_000_000]


def pass_cases():
    cases = []
    for n in [1, 3, 5, 10, 64, 200, 1000]:
        for c in sorted({0, 1, n // 3, n // 2, n - 1, n}):
            for k in sorted({1, 2, 3, n // 2, n}):
                if 1 <= k <= n:
                    everything = special.comb(n, k, exact=True)
                    none = special.comb(n - c, k, exact=True)
                    every = special.comb(c, k, exact=True)
                    cases.append([n, c, k, (everything - none) / everything, every / everything])
    return cases


def share_cases():
    cases = []
    for n in SIZES:
        for c in sorted({0, 1, n // 10, n // 3, n // 2, n - 1, n}):
            for confidence in CONFIDENCES:
                wilson = stats.binomtest(c, n).proportion_ci(confidence, method="wilson")
                tail = (1 - confidence) / 2
                low = 0.0 if c == 0 else stats.beta.ppf(tail, c, n - c + 1)
                high = 1.0 if c == n else stats.beta.isf(tail, c + 1, n - c)
                cases.append([n, c, confidence, [wilson.low, wilson.high], [low, high]])
    return cases


def quantile_cases():
    shares = [1e-12, 1e-6, 0.001, 0.025, 0.2, 0.5, 0.6, 0.9, 0.975, 0.9999]
    return {
        "normal": [[p, stats.norm.ppf(p)] for p in [1e-300, 1e-20, *shares]],
        "t": [[p, df, stats.t.ppf(p, df)] for p in shares for df in [1, 2, 3, 7.5, 30, 368, 1e4, 1e6]],
        "f": [
            [p, d1, d2, stats.f.ppf(p, d1, d2)]
            for p in [0.005, 0.025, 0.5, 0.975, 0.995]
            for d1, d2 in [(1, 1), (1, 40), (3, 40), (9, 10), (368, 1476), (99, 999_900), (999_900, 99)]
        ],
        "beta": [
            [p, a, b, stats.beta.ppf(p, a, b)]
            for p in [1e-10, 0.025, 0.5, 0.975]
            for a, b in [(0.5, 0.5), (0.5, 20), (1, 1), (2, 300), (300, 2), (5e5, 5e5), (1e6, 1)]
        ],
    }


def random_tasks(sizes, kind):
    tasks = []
    for size in sizes:
        chance = rng.beta(1, 1)
        if kind == "passes":
            tasks.append([int(x) for x in rng.random(size) < chance])
        else:
            tasks.append([round(float(x), 3) for x in numpy.clip(rng.normal(chance, 0.2, size), 0, 1)])
    return tasks


def icc_of(tasks, confidence):
    """One-way analysis of variance, by scipy's F; n0 as Searle, Casella and McCulloch have it."""
    f = stats.f_oneway(*tasks).statistic
    a, n = len(tasks), sum(len(t) for t in tasks)
    n0 = (n - sum(len(t) ** 2 for t in tasks) / n) / (a - 1)
    tail = (1 - confidence) / 2
    low = f / stats.f.isf(tail, a - 1, n - a)
    high = f * stats.f.isf(tail, n - a, a - 1)
    return [(x - 1) / (x + n0 - 1) for x in (f, low, high)]


def icc_cases():
    cases = []
    shrout_fleiss = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    cases.append({"tasks": [[x / 10 for x in row] for row in shrout_fleiss]})
    for sizes in [[5] * 4, [5] * 12, [8] * 40, [1, 2, 3, 4, 5], [1, 1, 1, 9], [3, 7, 2, 30, 4, 4]]:
        for kind in ["passes", "scores"]:
            cases.append({"tasks": random_tasks(sizes, kind)})
    kept = []
    for case in cases:
        for confidence in CONFIDENCES:
            values = icc_of(case["tasks"], confidence)
            if all(math.isfinite(x) for x in values):
                kept.append({**case, "confidence": confidence, "values": values})
    return kept


def mean_of(tasks):
    return float(numpy.mean([numpy.mean(t) for t in tasks]))


def bootstrap_cases():
    """The plain two-level bootstrap, draw by draw, with numpy's generator: equal to ours but for chance."""
    cases = []
    for sizes in [[5] * 10, [3, 8, 5, 2, 20, 6], [30]]:
        for kind in ["passes", "scores"]:
            tasks = [numpy.array(t) for t in random_tasks(sizes, kind)]
            means = numpy.zeros(100_000)
            for index in range(len(means)):
                drawn = rng.integers(0, len(tasks), len(tasks))
                means[index] = numpy.mean(
                    [tasks[t][rng.integers(0, len(tasks[t]), len(tasks[t]))].mean() for t in drawn]
                )
            ci = numpy.quantile(means, [0.025, 0.975])
            cases.append(
                {"tasks": [t.tolist() for t in tasks], "mean": mean_of(tasks), "ci": ci.tolist(), "sd": means.std()}
            )
    return cases


def paired_cases():
    cases = []
    for count in [2, 5, 20, 100]:
        first, second = random_tasks([5] * count, "scores"), random_tasks([4] * count, "scores")
        a, b = [numpy.mean(t) for t in first], [numpy.mean(t) for t in second]
        result = stats.ttest_rel(b, a)
        ci = result.confidence_interval(0.95)
        cases.append(
            {
                "first": first,
                "second": second,
                "difference": float(numpy.mean(b) - numpy.mean(a)),
                "ci": [ci.low, ci.high],
                "p": result.pvalue,
            }
        )
    return cases


def regression_cases():
    """All relabellings of every task, counted."""
    cases = []
    for sizes in [[(3, 3)], [(5, 5)], [(2, 3), (3, 2), (2, 2)], [(4, 4), (1, 2), (2, 1)]]:
        for kind in ["passes", "scores"]:
            first = random_tasks([a for a, _ in sizes], kind)
            second = random_tasks([b for _, b in sizes], kind)
            seen = mean_of(second) - mean_of(first)
            spreads = []
            for a, b in zip(first, second):
                pool = numpy.array(a + b)
                everyone = set(range(len(pool)))
                spreads.append(
                    [
                        pool[list(chosen)].mean() - pool[list(everyone - set(chosen))].mean()
                        for chosen in itertools.combinations(range(len(pool)), len(b))
                    ]
                )
            all_of_them = [sum(parts) / len(parts) for parts in itertools.product(*spreads)]
            p = sum(x <= seen + 1e-12 for x in all_of_them) / len(all_of_them)
            cases.append({"first": first, "second": second, "difference": seen, "p": p})
    return cases


def sequence_cases():
    """Where the posterior density of a uniform prior comes down to alpha."""
    cases = []
    for n, total in [(1, 1), (5, 0), (5, 2), (10, 8), (20, 7.25), (100, 50), (1000, 3), (10_000, 9_000.5)]:
        for confidence in CONFIDENCES:

            def over(mean, n=n, total=total, confidence=confidence):
                return stats.beta.logpdf(mean, total + 1, n - total + 1) - math.log(1 - confidence)

            best = total / n
            low = 0.0 if total == 0 else optimize.brentq(over, 1e-300, best, xtol=1e-15, rtol=1e-14)
            high = 1.0 if total == n else optimize.brentq(over, best, 1 - 1e-16, xtol=1e-15, rtol=1e-14)
            cases.append([n, total, confidence, [low, high]])
    return cases


def planning_cases():
    """The formula by scipy's t, and the power that the noncentral t gives to the difference it returns."""
    cases = []
    for tasks, replicas, icc, sd, pairing, confidence, power in [
        (100, 5, 0.5, 0.5, 0, 0.95, 0.8),
        (369, 1, 0.6, 0.49, 0.8, 0.95, 0.8),
        (20, 10, 0.2, 0.4, 1, 0.95, 0.9),
        (11, 5, 0.9, 0.5, 0.5, 0.99, 0.5),
    ]:
        error = math.sqrt(2 * sd**2 * (icc * (1 - pairing) + (1 - icc) / replicas) / tasks)
        df = tasks - 1
        difference = (stats.t.ppf((1 + confidence) / 2, df) + stats.t.ppf(power, df)) * error
        reached = stats.nct.sf(stats.t.ppf((1 + confidence) / 2, df), df, difference / error)
        cases.append(
            {
                "plan": {
                    "tasks": tasks,
                    "replicas": replicas,
                    "icc": icc,
                    "sd": sd,
                    "pairing": pairing,
                    "confidence": confidence,
                    "power": power,
                },
                "difference": difference,
                "power_reached": reached,
            }
        )
    return cases


MASK32, MASK64 = 2**32 - 1, 2**64 - 1


def split_mix(seed):
    words = []
    for step in (1, 2):
        z = (seed + step * 0x9E3779B97F4A7C15) & MASK64
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK64
        z ^= z >> 31
        words += [z & MASK32, z >> 32]
    return words


def xoshiro(state, count):
    s, out = list(state), []
    turn = lambda x, k: ((x << k) | (x >> (32 - k))) & MASK32
    for _ in range(count):
        out.append((turn((s[1] * 5) & MASK32, 7) * 9) & MASK32)
        t = (s[1] << 9) & MASK32
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = turn(s[3], 11)
    return out


def random_cases():
    return [[seed, xoshiro(split_mix(seed), 8)] for seed in [0, 1, 2**32, 2**53 - 1]]


golden = {
    "made_by": f"make.py, scipy {scipy.__version__}, numpy {numpy.__version__}",
    "pass": pass_cases(),
    "share": share_cases(),
    "quantile": quantile_cases(),
    "icc": icc_cases(),
    "bootstrap": bootstrap_cases(),
    "paired": paired_cases(),
    "regression": regression_cases(),
    "sequence": sequence_cases(),
    "planning": planning_cases(),
    "random": random_cases(),
}
with open("golden.json", "w", encoding="utf-8") as file:
    # One figure's cases a line, so that a change shows where it is.
    lines = [f"{json.dumps(name)}: {json.dumps(cases)}" for name, cases in golden.items()]
    file.write("{\n" + ",\n".join(lines) + "\n}\n")
