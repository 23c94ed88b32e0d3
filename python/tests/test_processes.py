"""Threads, forked processes, Ctrl-C, and memory."""

import gc
import os
import pickle
import platform
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
import tulle as tl


@pytest.fixture(scope="module")
def large():
    made = sp.random_array((20000, 20000), density=2e-3, format="csr", rng=np.random.default_rng(5))
    return made, np.random.default_rng(6).random(20000)


def test_a_child_computes_after_its_parent_used_threads(large):
    S, x = large
    expected = S @ x
    assert np.allclose(tl.einsum("y(i) = A(i,j) * x(j)", A=S, x=x, threads=2), expected)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        good = np.allclose(tl.einsum("y(i) = A(i,j) * x(j)", A=S, x=x, threads=2), expected)
        good &= np.allclose(tl.einsum("z(j) = A(i,j) * x(i)", A=S, x=x, threads=2), S.T @ x)
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0


def _wrong_answer(S, T, x, kind: int, factor: float) -> str:
    """What a kernel of this kind computes wrongly; `factor` is in its text, so that each is compiled."""
    x = x[:S.shape[1]]
    if kind == 0:
        good = np.allclose(tl.einsum(f"y(i) = {factor} * A(i,j) * x(j)", A=S, x=x, threads=2), factor * (S @ x))
    elif kind == 1:
        good = np.allclose(tl.einsum(f"y(j) = {factor} * A(i,j) * x(i)", A=S, x=x, threads=2), factor * (S.T @ x))
    elif kind == 2:
        C = tl.einsum(f"C(i,j) = {factor} * A(i,j) + B(i,j)", A=S, B=T, format="CSR")
        good = abs(C.to_scipy() - (factor * S + T)).max() < 1e-9
    elif kind == 3:
        C = tl.einsum(f"C(i,j) = {factor} * A(i,k) * B(k,j)", A=S, B=T, format="CSR", threads=2)
        good = abs(C.to_scipy() - factor * (S @ T)).max() < 1e-9
    elif kind == 4:
        C = tl.einsum("C(i,j) = c * A(i,j) where B", A=S, B=S, c=factor, format="CSR")
        good = np.allclose(C.values, factor * S.data)
    elif kind == 5:
        good = abs(tl.asarray(factor * S).to("BCSR(2,2)").to_scipy() - factor * S).max() < 1e-9
    elif kind == 6:
        good = np.isclose(tl.einsum(f"s max= {factor} * A(i,j) where A", A=S), factor * S.data.max())
    else:
        try:
            tl.einsum(f"y(i) = {factor} * A(i,j) * x(j)", A=S, x=x[1:])
            good = False
        except tl.TulleError as error:
            good = "x" in str(error)
    return "" if good else f"kind {kind}, factor {factor}"


def test_threads_compile_and_run_different_kernels(large):
    """For TULLE_TEST_SECONDS, two where it is not set."""
    end = time.monotonic() + float(os.environ.get("TULLE_TEST_SECONDS", "2"))
    S, x = large
    small = [S[:300, :300].tocsr(), S[300:600, :300].tocsr()]
    failures, rounds = [], []

    def work(thread):
        done = 0
        while done < 2 or time.monotonic() < end:
            kind = (thread + done) % 8
            matrices = (S, S) if kind in (0, 1, 4) and done % 4 == 0 else small
            try:
                if wrong := _wrong_answer(*matrices, x, kind, 1.0 + thread + done / 8):
                    failures.append(wrong)
            except Exception as error:  # a thread's own exception would be lost
                failures.append(f"kind {kind}: {error!r}")
            done += 1
        rounds.append(done)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(rounds) == 8
    print(f"{sum(rounds)} kernels")


def test_ctrl_c_ends_loops():
    code = textwrap.dedent("""
        import os, signal, threading, numpy as np, tulle as tl
        threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            tl.run("repeat 1000000000 { x(i) = x(i) + 1; s = x(i) } until s < 0", x=np.zeros(1000))
        except KeyboardInterrupt:
            print("interrupted")
        """)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "interrupted\n", done.stderr


_CTRL_C = """
import os, signal, sys, threading, time, numpy as np, scipy.sparse as sp, tulle as tl

threads = int(sys.argv[1])
S = sp.random_array((200000, 200000), density=1e-4, format="csr", rng=np.random.default_rng(1))
A, x, out = tl.asarray(S), np.ones(200000), np.zeros(200000)
# One statement after another, of which each takes milliseconds; the rounds come to no end.
text = "repeat 1000000000 { y(i) = A(i,j) * x(j); z(i) = A(i,j) * y(j); x(i) = 1e-3 * z(i) }"
solve = tl.compile(text, A="CSR", x="dense", threads=threads)
once = tl.compile(text.replace("1000000000", "1"), A="CSR", x="dense", threads=threads)
expected = once(A, x)
calls = [lambda: solve(A, x), lambda: solve(A, x, out=out), lambda: tl.run(text, A=A, x=x, threads=threads)]
calls = [(1, call) for call in calls]  # seconds that it may go on
if threads == 2:  # no loop, but a second or two of parallel ones
    chain = "; ".join(f"X{k + 1}(i,k) = 1e-3 * A(i,j) * X{k}(j,k)" for k in range(16))
    X = np.ones((200000, 32))
    products = tl.compile(chain, A=A, X0=X, threads=2)
    products(A, X)  # memory comes page by page in the first call
    start = time.monotonic()
    products(A, X)
    calls.append((0.2 + (time.monotonic() - start) / 3, lambda: products(A, X)))
for most, call in calls:
    pressed = []
    press = lambda: (pressed.append(time.monotonic()), os.kill(os.getpid(), signal.SIGINT))
    threading.Timer(0.2, press).start()
    try:
        call()
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - pressed[0] < most)
    print((once(A, x) == expected).all(), (x == 1).all())

# A handler that raises nothing lets it go on; what it raises is what the caller gets.
seen = []
def handle(number, frame):
    seen.append(number)
    if len(seen) == 3:
        raise TimeoutError("enough")
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
try:
    solve(A, x)
except TimeoutError as error:
    print(len(seen), error)
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_signals_are_handled_between_statements_and_parts(threads):
    done = subprocess.run([sys.executable, "-c", _CTRL_C, str(threads)], capture_output=True, text=True, timeout=120)
    calls = 4 if threads == 2 else 3
    assert done.stdout == calls * "interrupted True\nTrue True\n" + "3 enough\n", done.stderr


def _grows(action, count: int) -> int:
    """By how many KiB the process grows in the second half of so many calls."""
    for _ in range(count // 2):
        action()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(count // 2):
        action()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before


def _entries():
    S = sp.random_array((40, 30), density=0.2, format="csr", rng=np.random.default_rng(1))
    A, x, out = tl.asarray(S), np.ones(30), np.ones(40)
    spmv = tl.compile("y(i) = A(i,j) * x(j)", A="CSR")
    coords = (np.array([0, 3, 2]), np.array([1, 1, 0]))

    def wrong():
        with pytest.raises(tl.TulleError):
            spmv(A, np.ones(29))

    return {
        "asarray": lambda: tl.asarray(S), "call": lambda: spmv(A, x), "out": lambda: spmv(A, x, out=out),
        "einsum": lambda: tl.einsum("ij,j->i", S, x),
        "sparse result": lambda: tl.einsum("ij,kj->ik", A, A, format="CSR"),
        "from_coo": lambda: tl.from_coo((40, 30), coords, np.ones(3), format="CSR"),
        "views": lambda: A[3:20, ::2].T.values, "convert": lambda: A.to("CSC").todense(),
        "to_scipy": lambda: A.to_scipy(), "query": lambda: tl.query("select [i] -> count(j) as n", A),
        "error": wrong, "html": lambda: A._repr_html_(),
    }


@pytest.mark.parametrize("entry", list(_entries()))
def test_memory_stays(entry):
    action = _entries()[entry]
    assert _grows(action, 10000 if entry not in ("html", "query", "sparse result") else 2000) < 2000


@pytest.mark.parametrize("entry", list(_entries()))
def test_no_object_stays(entry):
    action = _entries()[entry]

    def blocks():
        for _ in range(200):
            action()
        gc.collect()
        return sys.getallocatedblocks()

    blocks()
    before = blocks()
    assert blocks() - before < 100  # an object that is lost in each call makes 200


def test_a_tensor_comes_from_buffers_at_any_address(matrix):
    A = tl.asarray(matrix())
    buffers = []
    body = pickle.dumps(A, protocol=5, buffer_callback=buffers.append)
    moved = [memoryview(b"." + buffer.raw())[1:] for buffer in buffers]
    np.testing.assert_array_equal(pickle.loads(body, buffers=moved).todense(), A.todense())


_CALL = """import pickle, sys, numpy as np, tulle as tl
kernel = pickle.load(sys.stdin.buffer)
print(kernel.origin, kernel(tl.from_coo((2, 2), ([0, 1], [1, 0]), [2.0, 3.0], format="CSR"), np.array([1.0, 10.0])))"""


@pytest.mark.parametrize("environment, spoiled, origin", [
    ({}, False, "object code"),
    ({}, True, "compiled"),
    ({"TULLE_CPU": "x86-64" if platform.machine() == "x86_64" else "generic"}, False, "compiled"),
])
def test_a_pickled_kernel_takes_its_code_along(environment, spoiled, origin):
    kernel = tl.compile("y(i) = A(i,j) * x(j) + 17", A="CSR", threads=1, disk_cache=False)
    body = pickle.dumps(kernel)
    if spoiled:
        code = kernel._object_code()
        body = body.replace(code, bytes([code[0] ^ 1]) + code[1:])
    ran = subprocess.run([sys.executable, "-c", _CALL], input=body, capture_output=True, env={**os.environ, **environment}, check=True)
    assert ran.stdout.decode().strip() == f"{origin} [37. 20.]"
