"""Write data/derivatives.json: log-likelihoods differentiated by mpmath, in 60 digits. The tests do without mpmath."""

import json
from importlib import import_module
from itertools import product
from pathlib import Path

ETAS = [-40.0, -12.5, -3.0, -0.7, 0.0, 0.3, 1.5, 8.0, 35.0]
ORDERS = [(1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (0, 3)]


def main():
    mp = import_module("mpmath")
    mp.mp.dps = 60

    def multinomial(a, b, y):
        """Three classes, the scores of which are a/√2 + b/√6, −a/√2 + b/√6 and −2b/√6."""
        scores = [a / mp.sqrt(2) + b / mp.sqrt(6), -a / mp.sqrt(2) + b / mp.sqrt(6), -2 * b / mp.sqrt(6)]
        return scores[y] - mp.log(sum(map(mp.exp, scores)))

    def of_one(likelihood, eta, y):
        values = [mp.diff(lambda e: likelihood(e, mp.mpf(y)), mp.mpf(eta), order) for order in (0, 1, 2, 3)]
        return [eta, y, *map(float, values)]

    def of_two(a, b, y):
        at = mp.mpf(a), mp.mpf(b)
        values = [mp.diff(lambda s, t: multinomial(s, t, y), at, order) for order in ORDERS]
        return [a, b, y, float(multinomial(*at, y)), *map(float, values)]

    one = {
        "binomial": (lambda eta, y: y * eta - mp.log(1 + mp.exp(eta)), (0.0, 0.25, 1.0)),
        "poisson": (lambda eta, y: y * eta - mp.exp(eta) - mp.loggamma(y + 1), (0.0, 1.0, 7.0, 2.5)),
        "gaussian": (lambda eta, y: -((y - eta) ** 2) / 2 - mp.log(2 * mp.pi) / 2, (0.0, -2.0, 7.0)),
    }
    found = {name: [of_one(of, *case) for case in product(ETAS, seen)] for name, (of, seen) in one.items()}
    found["multinomial"] = [of_two(*case) for case in product((-5.0, 0.0, 0.4, 3.0), (-2.0, 0.0, 0.9), (0, 1, 2))]
    Path(__file__).with_name("data").joinpath("derivatives.json").write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
