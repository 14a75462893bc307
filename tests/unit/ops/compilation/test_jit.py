"""jit: the ledger, the check of the first result, the limit, engines, transformations and messages."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._ops.compilation import ledger
from xarrayops.errors import BackendNotFound, MixedBackends, Unsupported, XArrayOpsError

jax = pytest.importorskip("jax", exc_type=ImportError)
jnp = jax.numpy


def doubled(x):
    return x * 2


def settled(function, *args, **kwargs):
    """The result after so many calls that no more calls are timed."""
    for _ in range(ledger.TIMED + 2):
        result = function(*args, **kwargs)
    return result


class TestLedger:
    def test_each_signature_has_an_entry(self):
        f = xo.jit(lambda x, axis=0: xo.sum(x, axis=axis))
        settled(f, jnp.ones((2, 3), "float32"))
        f(jnp.ones((4, 3), "float32"))
        f(jnp.ones((4, 3), "float32"), 1)
        first, second, third = f.ledger
        assert (first.signature, first.engine, first.reason) == ("x=float32[2,3]", "jax", "")
        assert first.compiled_calls == ledger.TIMED + 2
        assert first.compilation_s > first.compiled_s > 0
        assert first.eager_s > 0
        assert second.reason == "x float32[2,3] -> float32[4,3]"
        assert third.reason == "axis not given -> 1"
        assert "pays after" in str(f.ledger)
        assert len(str(f.ledger).splitlines()) == 4

    def test_calls_are_counted(self):
        f = xo.jit(doubled)
        for _ in range(20):
            f(jnp.ones(3))
        assert f.ledger[0].compiled_calls == 20

    def test_what_it_saves(self):
        entry = xo.jit(doubled).ledger
        assert list(entry) == []
        from xarrayops._ops.compilation.ledger import Entry

        found = Entry("", "jax", 1.0, 0.3, 0.1, 0, 10, "")
        assert found.pays_after == 5
        assert found.net_s == pytest.approx(1.0)
        assert found._replace(compiled_s=0.4).pays_after is None
        assert found._replace(compiled_s=None).net_s is None

    def test_names_of_variables_that_changed(self):
        scale = 1.0
        f = xo.jit(lambda x: x * scale)
        f(jnp.ones(2))
        scale = 2.0
        assert f(jnp.ones(2)).tolist() == [2, 2]
        assert f.ledger[1].reason == "scale 1.0 -> 2.0"


class TestCheck:
    @pytest.fixture
    def compiler(self, monkeypatch):
        """Replaces JAX's compiler by another function."""

        def replace(compiled):
            monkeypatch.setitem(xo.backend("jax").functions, "compiled", compiled)

        return replace

    @pytest.mark.parametrize(
        ("fault", "message"),
        [
            (lambda x: x * 2.001, r"result 0: 6\.00"),
            (lambda x: x[::-1] * 2, "result 0: "),
            (lambda x: (x * 2).astype("float16"), "dtype float16"),
            (lambda x: x[1:] * 2, r"shape \(2,\)"),
            (lambda x: (x * 2, x), "returns 2 values"),
            (lambda x: 2.0, "result 0 is 2.0"),
        ],
    )
    def test_a_wrong_program_raises(self, compiler, fault, message):
        compiler(lambda function, dynamic_axes: fault)
        f = xo.jit(doubled)
        for _ in range(2):
            with pytest.raises(XArrayOpsError, match=message):
                f(jnp.asarray([1.0, 2.0, 3.0]))

    def test_a_wrong_program_that_need_not_serve_is_not_used(self, compiler):
        compiler(lambda function, dynamic_axes: lambda x: x * 3)
        f = xo.jit(doubled, when="pays")
        f.programs._last_compilation_s = 1e-9
        for _ in range(8):
            assert f(jnp.ones(2)).tolist() == [2, 2]
        assert "result 0: 3.0" in f.ledger[0].reason

    def test_without_a_check_the_function_does_not_run(self, compiler):
        calls = []
        compiler(lambda function, dynamic_axes: lambda x: x * 3)
        f = xo.jit(lambda x: calls.append(1) or x * 2, check=False)
        assert f(jnp.ones(2)).tolist() == [3, 3]
        assert not calls

    def test_rounding_is_no_difference(self, compiler):
        compiler(lambda function, dynamic_axes: lambda x: function(x) * (1 + 2e-7))
        x = jnp.asarray(np.random.default_rng(0).standard_normal(1000).astype("float32"))
        assert settled(xo.jit(xo.exp), x).shape == (1000,)

    def test_sums_of_integers_round(self, compiler):
        """Integers do not move, so no spread is measured: the budget grows with the number of elements."""
        mean = lambda x: xo.mean(xo.astype(x, jnp.float32))
        compiler(lambda function, dynamic_axes: lambda x: mean(x) * (1 + 3e-6))
        x = jnp.asarray(np.random.default_rng(0).integers(0, 200, 500_000).astype("uint8"))
        assert settled(xo.jit(mean), x).shape == ()
        compiler(lambda function, dynamic_axes: lambda x: mean(x) * (1 + 3e-5))
        with pytest.raises(XArrayOpsError, match="Instead: check=False, if rounding"):
            xo.jit(lambda x: mean(x))(x)

    def test_cancellation_is_measured(self, compiler):
        """The sum is far smaller than its terms: another order of summation differs by more than the sum's rounding."""
        compiler(lambda function, dynamic_axes: lambda x: xo.sum(x[::-1]))
        x = np.random.default_rng(0).standard_normal(10_001).astype("float32")
        x[-1] = -x[:-1].astype("float64").sum()
        assert abs(float(settled(xo.jit(xo.sum), jnp.asarray(x)))) < 1e-2


class TestSignatures:
    def test_the_limit(self):
        f = xo.jit(doubled, limit=2)
        f(jnp.ones(1)), f(jnp.ones(2))
        with pytest.warns(RuntimeWarning, match="the limit"):
            assert f(jnp.ones(3)).shape == (3,)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert f(jnp.ones(4)).shape == (4,)
        assert [bool(each.compiled_calls) for each in f.ledger] == [True, True, False, False]
        assert "2 signatures are compiled, which is the limit" in f.ledger[2].reason

    def test_static_arrays_are_compared_by_value(self):
        f = xo.jit(lambda x, table: x * float(table[0]), static="table")
        for k in (1.0, 2.0, 1.0):
            assert f(jnp.ones(2), np.asarray([k])).tolist() == [k, k]
        assert len(f.ledger) == 2

    def test_an_argument_that_cannot_be_compared(self):
        f = xo.jit(lambda x, table: x)
        with pytest.raises(
            TypeError, match=r"the argument 'table' is not an array, and it is an array of numpy with 800000"
        ):
            xo.jit(lambda x, table: x, static=["table"])(jnp.ones(2), np.ones(100_000))
        with pytest.raises(MixedBackends):
            f(jnp.ones(2), np.ones(3))

    def test_keywords_in_any_order(self):
        f = xo.jit(lambda *, a, b: a - b)
        one, two = jnp.ones(1), jnp.ones(1) * 2
        for _ in range(6):
            assert f(a=one, b=two).tolist() == [-1]
            assert f(b=two, a=one).tolist() == [-1]
        assert len(f.ledger) == 1

    @pytest.mark.parametrize(
        ("options", "error"),
        [
            ({"when": "later"}, ValueError),
            ({"limit": 0}, ValueError),
            ({"limit": 1.5}, ValueError),
            ({"dynamic": "x"}, ValueError),
            ({"dynamic": "y:0"}, ValueError),
            ({"static": "y"}, ValueError),
            ({"engine": "nothing"}, BackendNotFound),
        ],
    )
    def test_wrong_options(self, options, error):
        with pytest.raises(error, match=r"jit|nothing"):
            xo.jit(doubled, **options)

    def test_no_function(self):
        with pytest.raises(TypeError, match="takes a function, not int"):
            xo.jit(3)

    def test_a_method_stays_compiled(self):
        class Model:
            @xo.jit
            def scaled(self, x):
                return x * self.k

        model = Model()
        model.k = 2.0
        for _ in range(12):
            assert model.scaled(jnp.ones(1)).tolist() == [2]
        assert len(Model.scaled.ledger) == 1
        assert Model.scaled.ledger[0].compiled_calls == 12

    def test_rest_and_dynamic(self):
        f = xo.jit(lambda x, *rest: x + rest[0], dynamic="x:0")
        assert f(jnp.ones(2), jnp.ones(2)).tolist() == [2, 2]
        with pytest.raises(ValueError, match="dynamic names an axis"):
            f(jnp.ones(()), jnp.ones(()))

    def test_constants_of_each_trace(self):
        f = xo.jit(lambda x: (xo.sum(x), x.shape[0]), dynamic="x:0")
        assert [f(jnp.ones(n))[1] for n in (3, 5, 3)] == [3, 5, 3]

    def test_signatures_are_not_kept_without_limit(self):
        f = xo.jit(lambda x, k: x * k)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for k in range(100):
                assert f(jnp.ones(1), k).tolist() == [k]
        assert len(f.ledger) < 60


class TestEngines:
    def test_memory_of_jax_is_not_written(self):
        pytest.importorskip("torch", exc_type=ImportError)

        def increased(x):
            x += 1
            return x * 2

        x = jnp.ones(2)
        for _ in range(5):
            assert xo.jit(increased, engine="torch")(x).tolist() == [4, 4]
        assert x.tolist() == [1, 1]

    def test_numpy_in_and_out(self):
        f = xo.jit(lambda x: (xo.exp(x), {"n": x.shape[0]}), engine="jax")
        x = np.asarray([1.0, 2.0], "float32")
        result, rest = settled(f, x)
        assert type(result) is np.ndarray
        assert result.flags.writeable
        assert rest == {"n": 2}
        np.testing.assert_allclose(result, np.exp(x), rtol=1e-6)
        assert f.ledger[0].engine == "jax"

    def test_numpy_alone_is_eager(self):
        f = xo.jit(doubled)
        assert type(settled(f, np.ones(2))) is np.ndarray
        assert f.ledger[0].engine == ""
        assert "cannot compile functions" in f.ledger[0].reason
        assert f.ledger[0].eager_calls == ledger.TIMED + 2

    def test_an_engine_without_a_compiler(self):
        with pytest.raises(Unsupported, match="numpy cannot compile"):
            xo.jit(doubled, engine="numpy")(jnp.ones(2))

    def test_explain(self):
        found = xo.explain("jit", xo.jit(doubled, engine="jax"), np.ones(2, "float32"))
        assert found.chosen == "jax:jit"
        assert {each.name: each.ok for each in found.candidates}["numpy:jit"] is False
        big = np.ones(100_000)
        found = xo.explain("jit", lambda x: x * big[0], jnp.ones(2))
        assert found.chosen is None
        assert "the variable 'big'" in found.candidates[0].reason
        assert xo.explain("jit", doubled, 3).chosen is None


class TestTransformations:
    def test_gradients_and_batches(self):
        f = xo.jit(lambda x: xo.sum(x**3))
        x = jnp.asarray([1.0, 2.0])
        assert xo.grad(f)(x).tolist() == [3, 12]
        assert xo.vmap(f)(jnp.ones((2, 3))).tolist() == [3, 3]
        assert xo.grad(xo.jit(xo.grad(xo.jit(lambda x: x**3))))(jnp.asarray(2.0)).tolist() == 12
        assert list(f.ledger) == []
        assert jax.jit(f)(x).tolist() == 9

    def test_a_traced_function_has_no_entry_and_the_next_call_is_checked(self):
        f = xo.jit(doubled)
        jax.jit(f)(jnp.ones(2))
        f(jnp.ones(2))
        assert f.ledger[0].eager_s is not None

    def test_methods(self):
        class Model:
            @xo.jit
            def scaled(self, x):
                return x * self.k

        model, other = Model(), Model()
        model.k, other.k = 2.0, 3.0
        assert model.scaled(jnp.ones(1)).tolist() == [2]
        assert other.scaled(jnp.ones(1)).tolist() == [3]

    def test_threads(self):
        f, found = xo.jit(lambda x, k: x * k), []

        def call(k):
            found.extend(float(f(jnp.ones(()), k)) == k for _ in range(20))

        threads = [threading.Thread(target=call, args=(k % 3,)) for k in range(6)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert len(found) == 120
        assert all(found)
        assert 100 <= sum(each.compiled_calls for each in f.ledger) <= 120


class TestMessages:
    def test_the_line_of_a_branch(self):
        def branches(x):
            if xo.sum(x) > 0:
                return x
            return -x

        with pytest.raises(Unsupported, match=r"jax cannot compile it \(line \d+: if xo.sum\(x\) > 0:\).*xo.cond"):
            xo.jit(branches)(jnp.ones(2))

    def test_what_is_written(self):
        def writes(x):
            x[0] = 5.0
            return x

        with pytest.raises(Unsupported, match="it writes to x"):
            xo.jit(writes, engine="jax")(np.ones(2, "float32"))

    def test_errors_of_the_function_come_first(self):
        def fails(x):
            raise KeyError("of the function")

        for check in (True, False):
            with pytest.raises(KeyError, match="of the function"):
                xo.jit(fails, check=check)(jnp.ones(2))


class TestTorch:
    @pytest.fixture(autouse=True)
    def torch(self):
        self.torch = pytest.importorskip("torch", exc_type=ImportError)

    def test_random_numbers_are_not_compared(self, without_inductor):
        f = xo.jit(lambda x: x + self.torch.rand(3))
        x = self.torch.zeros(3)
        before = self.torch.get_rng_state()
        assert not self.torch.equal(f(x), f(x))
        self.torch.set_rng_state(before)
        assert f.ledger[0].reason == ""

    def test_a_dynamic_axis(self, without_inductor):
        f = xo.jit(lambda x, k: xo.sum(x * k, axis=0), dynamic="x:0")
        for n in (5, 7, 11, 2):
            assert f(self.torch.ones((n, 2)), 2.0).tolist() == [2 * n, 2 * n]
        assert len(f.ledger) == 1

    def test_gradients(self):
        f = xo.jit(lambda x: xo.sum(x**3))
        x = self.torch.tensor([1.0, 2.0])
        assert xo.grad(f)(x).tolist() == [3, 12]
        x.requires_grad_()
        f(x).backward()
        assert x.grad.tolist() == [3, 12]
        assert self.torch.func.grad(f)(x.detach()).tolist() == [3, 12]
        assert xo.vmap(f)(self.torch.ones((2, 3))).tolist() == [3, 3]

    def test_inside_of_torch_compile(self):
        f = xo.jit(lambda x, k: xo.exp(x) * k)
        g = self.torch.compile(lambda x: f(x, 2.0) + 1, fullgraph=True, backend="eager")
        np.testing.assert_allclose(g(self.torch.zeros(2)), [3.0, 3.0])

    def test_many_strides(self, without_inductor):
        f = xo.jit(lambda x: xo.sum(x, axis=0))
        for i in range(12):
            x = self.torch.ones(3, 4 + i)[:, :4]
            assert settled(f, x).tolist() == [3, 3, 3, 3]

    def test_many_signatures(self, without_inductor):
        """PyTorch limits the number of programs of one code object; here they have one signature."""
        f = xo.jit(lambda x, k: x * k, limit=20)
        for k in range(12):
            assert f(self.torch.ones(1), float(k)).tolist() == [k]
        assert sum(each.compiled_calls for each in f.ledger) == 12


def test_pays_compiles_when_eager_calls_have_taken_as_long():
    f = xo.jit(lambda x: xo.sin(xo.exp(x)), when="pays")
    f.programs._last_compilation_s = 0.05
    x = jnp.ones(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5000):
            f(x)
    entry = f.ledger[0]
    assert entry.eager_calls >= 1
    assert entry.compiled_calls > 1
    assert entry.eager_calls + entry.compiled_calls == 5000
