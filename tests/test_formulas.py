"""The site finds the formulas in plain text, and leaves prose and names alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docs._ext.formulas import pieces

FOUND = {
    "H_t": r"H_{t}",
    "ŵ_{t−1}": r"\hat{w}_{t - 1}",
    "(1/n_t)·Σ_{τ<t} X_τᵀX_τ": r"(1 / n_{t}) \cdot \sum_{τ < t} X_{τ}^{\top} X_{τ}",
    "Σ_t = X_tᵀX_t/n_t": r"Σ_{t} = X_{t}^{\top} X_{t} / n_{t}",
    "Σ_τ n_τΣ_τ": r"\sum_{τ} n_{τ} Σ_{τ}",
    "‖w − ŵ_{t−1}‖²_{H_t}": r"\|w - \hat{w}_{t - 1}\|^{2}_{H_{t}}",
    "λ_j⁽ᵗ⁾": r"λ_{j}^{(t)}",
    "w_*,1² = w_*,2²": r"w_{*,1}^{2} = w_{*,2}^{2}",
    "√(A_1b_1)": r"\sqrt{A_{1} b_{1}}",
    "n^−½": r"n^{-1/2}",
    "𝓛(CRR)/𝓛(GR) < 2": r"\mathcal{L} (\text{CRR}) / \mathcal{L} (\text{GR}) < 2",
    "|μ − A|/(μ + b)": r"|μ - A| / (μ + b)",
    "ε = 1e-06": r"ε = 10^{-6}",
    "2⁵³": r"2^{53}",
    "P = σ²·E_0⁻¹": r"P = σ^{2} \cdot E_{0}^{-1}",
}
PROSE = [
    "n_samples",
    "task_column and n_jobs",
    "a p-value of 0.05",
    "1/2 of (all) rows",
    "x = 3, a table",
    "I/O",
    "e.g.",
]


@pytest.mark.parametrize("text", FOUND)
def test_a_formula_is_found_whole(text):
    assert list(pieces(f"Let {text} be known.")) == [("Let ", None), (text, FOUND[text]), (" be known.", None)]


def test_a_covariance_before_a_bracket_is_not_a_sum():
    assert list(pieces("of Σ_t (")) == [("of ", None), ("Σ_t", r"Σ_{t}"), (" (", None)]


@pytest.mark.parametrize("text", PROSE)
def test_prose_stays_prose(text):
    assert list(pieces(text)) == [(text, None)]


@given(st.text(alphabet="aH_t{}τ−+·/()ŵᵀ²Σ‖√ .,1*^|", max_size=25))
def test_no_character_is_lost(text):
    assert "".join(part for part, _ in pieces(text)) == text
