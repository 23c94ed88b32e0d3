# %% [markdown]
# # First steps
#
# A notebook as text: editors that know `# %%` show its cells, `jupytext --to ipynb first_steps.py` makes a file for Jupyter, and
# `python first_steps.py` runs it from top to bottom. It needs `tulle` and SciPy.

# %%
import numpy as np
import scipy.sparse as sp
import tulle as tl

rng = np.random.default_rng(0)
S = sp.random_array((1000, 800), density=0.01, format="csr", rng=rng)
x = rng.random(800)

# %% [markdown]
# A program says what is computed, for every `i`; indices that the left side lacks are summed over. SciPy's arrays are read where they are.

# %%
y = tl.einsum("y(i) = A(i,j) * x(j)", A=S, x=x)
assert np.allclose(y, S @ x)

# %% [markdown]
# A tensor has a format, which says what is stored. The picture of a matrix is the last value of a cell.

# %%
A = tl.asarray(S)
blocks = A.to("BCSR(4,4)")
print(A, blocks, sep="\n")
A

# %% [markdown]
# Programs have the same text for all formats; code is compiled for those of the operands. A sparse result needs a format, too.

# %%
assert np.allclose(tl.einsum("y(i) = A(i,j) * x(j)", A=blocks, x=x), y)
C = tl.einsum("C(i,k) = A(i,j) * B(k,j)", A=A, B=A, format="CSR")
assert abs(C.to_scipy() - S @ S.T).max() < 1e-12
C

# %% [markdown]
# Several statements are one program, whose loops are fused where they can be: here the softmax of what each row stores.

# %%
r = tl.run("""
    m(i) max= A(i,j) where A
    p(i,j) = exp(A(i,j) - m(i)) where A
    s(i) = p(i,j)
    q(i,j) = p(i,j) / s(i)
""", A=A, formats={"p": "CSR", "q": "CSR"})
sums = np.bincount(np.repeat(np.arange(1000), np.diff(S.indptr)), weights=r.q.values, minlength=1000)
assert np.allclose(sums[np.diff(S.indptr) > 0], 1)

# %% [markdown]
# A kernel that is called again and again is compiled once; `explain` shows what it was compiled to, in a notebook as a page.

# %%
spmv = tl.compile("y(i) = A(i,j) * x(j)", A="CSR", x="dense", threads=1)
out = np.empty(1000)
spmv(A, x, out=out)
assert np.allclose(out, y)
print(spmv.explain("schedule"))

# %% [markdown]
# Operators work as in SciPy, and give tensors. What would fill a sparse result is refused.

# %%
D = 2 * A + A * A
assert np.allclose(D.todense(), (2 * S + S * S).toarray())
try:
    A + 1
except tl.TulleError as error:
    print(error)
