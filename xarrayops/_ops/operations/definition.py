"""The definition of an operation: the reference, the kernels, the gradient, and the functions for each library.

Calls reach `Served` through generated functions (`caller`). ``_defined`` finds an operation by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper
from itertools import count
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.find import SCALARS
from xarrayops._core.backends.registry import Backend
from xarrayops._core.dispatch.lookup import constant_while_tracing, publish, resolved
from xarrayops._ops.explanation import Explanation, candidates, chosen_name
from xarrayops._ops.operations.caller import Guarded, eager_test, parameters_of, public_function, serving_function
from xarrayops._ops.operations.requirements import Requirements
from xarrayops.errors import NotAnArray
from xarrayops.plugin.arrays import Record
from xarrayops.plugin.candidates import Call, Kernel, always, first_able
from xarrayops.plugin.operations import CallTests, Operation, core_dimensions

_numbers = count()


class Declared(Record):
    """A declared kernel, for the arrays of one library.

    ``function_for(backend)`` returns the function that serves them, or the reason why it is not available.
    """

    library: str
    name: str
    function_for: Callable[[Backend], Callable[..., Any] | str]
    requirements: Requirements


class Definition:
    """An operation.

    Attributes
    ----------
    name : str
        ``"namespace::name"``. ``short_name`` is the second part.
    reference : callable
        The array code that defines it.
    parameters : Parameters
        Of the reference.
    blockwise : str or None
        The signature of a generalized ufunc.
    function : callable
        What users call.
    natives : list of Native
        The compiled functions of the native kernels.
    key : str
        Another one after each change of the kernels: what torch.compile finds is published under it.
    checks_all : set of str
        The libraries for which all arguments of every call are checked.
    made_by : tuple
        A function and arguments for which it returns this definition in another process, for cloudpickle.
    """

    def __init__(self, name: str, reference: Callable[..., Any], blockwise: str | None) -> None:
        self.name = name
        self.short_name = name.rpartition(":")[2]
        self.reference = reference
        self.parameters = parameters_of(name, reference)
        self.blockwise = blockwise
        if blockwise is not None and len(core_dimensions(blockwise)) != len(self.parameters.arrays):
            raise ValueError(f"{name}: blockwise={blockwise!r} does not have {len(self.parameters.arrays)} inputs")
        self._kernels: list[Declared] = []
        self.natives: list[Any] = []  # Native imports this module
        self.gradient: Callable[..., Any] | None = None
        self._table: dict[type, Callable[..., Any]] = {}
        self._served: dict[str, Served] = {}
        self.key = f"{name} {next(_numbers)}"
        self.checks_all: set[str] = set()
        self.made_by: tuple[Any, ...] = ()
        self.function = self._public()

    def __reduce__(self) -> tuple[Any, ...]:
        return self.made_by

    def _public(self) -> Callable[..., Any]:
        @constant_while_tracing
        def resolve(cls: type) -> str:
            """Find the function that serves a class, enter it in the table, and return its name in `resolved`."""
            backend = find.of_class(cls)
            if backend is None:
                return publish(f"{self.key}:slow", self._serve_any)
            served = self.by(backend)
            served.classes.add(cls)
            self._table[cls] = served.function
            return publish(f"{self.key}:{backend.name}", served.function)

        names = {"_table": self._table, "_resolved": resolved, "_find": resolve}
        return update_wrapper(public_function(self.short_name, self.parameters, names), self.reference)

    def set_gradient(self, gradient: Callable[..., Any]) -> None:
        """Use a gradient of the user."""
        self.gradient = gradient
        self.forget()

    def add(self, kernel: Declared) -> None:
        """Add a kernel, which is tried after the earlier ones of its library."""
        if any((kernel.library, kernel.name) == (each.library, each.name) for each in self._kernels):
            raise ValueError(f"{self.name} already has a kernel {kernel.library}:{kernel.name}")
        self._kernels.append(kernel)
        self.forget()

    def kernels_of(self, library: str) -> list[Declared]:
        """The kernels for the arrays of a library, in the order in which they are tried."""
        return [each for each in self._kernels if each.library == library]

    def has_kernels_beside(self, library: str) -> bool:
        """Whether there are kernels for the arrays of other libraries."""
        return any(each.library != library for each in self._kernels)

    def forget(self) -> None:
        """Clear the cached functions, because they depend on the kernels that can serve, and on the gradient."""
        self._table.clear()
        self._served.clear()
        self.key = f"{self.name} {next(_numbers)}"

    def check_all(self, library: str) -> None:
        """Check all arguments of later calls with arrays of a library: one of its kernels raised `NotServed`."""
        self.checks_all.add(library)
        self.forget()

    def by(self, backend: Backend) -> Served:
        """The functions for the arrays of a backend."""
        if backend.name not in self._served:
            self._served[backend.name] = Served(self, backend)
        return self._served[backend.name]

    def backend_of(self, arrays: tuple[Any, ...]) -> Backend:
        """The backend of all arrays of a call.

        Raises
        ------
        NotAnArray
            An argument is not an array.
        MixedBackends
            The arrays belong to several libraries.
        """
        given = dict(zip(self.parameters.arrays, arrays, strict=True))
        for name, x in given.items():
            if type(x) in SCALARS or (x is None and name not in self.parameters.optional):
                raise NotAnArray(f"{self.name}: argument {name} is {x!r}, but it must be an array.")
        return find.one_of(self.name, {name: x for name, x in given.items() if x is not None})

    def _serve_any(self, *arrays: Any, **options: Any) -> Any:
        return self.by(self.backend_of(arrays)).serve(*arrays, **options)

    def serve_values(self, *arrays: Any, **options: Any) -> Any:
        """Serve a call whose arrays have values and that no transformation needs to see."""
        return self.by(self.backend_of(arrays)).serve_values(*arrays, **options)

    def explain(self, name: str, /, *args: Any, **kwargs: Any) -> Explanation:
        """Explain a call."""
        bound = self.parameters.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arrays = tuple(bound.arguments[each] for each in self.parameters.arrays)
        call = Call(arrays, {each: bound.arguments[each] for each in self.parameters.options})
        backend = self.backend_of(arrays)
        *kernels, reference = candidates(backend.name, self.by(backend).kernels, call)
        listed = (*kernels, reference._replace(reason="the definition, in array code"))
        return Explanation(name, f"{backend.name} serves its own arrays", listed, chosen_name(listed))


class Served:
    """An operation for the arrays of one library.

    Attributes
    ----------
    function : callable
        The generated function, which serves the calls whose first array is of ``classes``.
    kernels : list
        The kernels and, last, the reference.
    serve_values : callable
        Calls the first kernel that can serve; for arrays with values that no transformation needs to see.
    """

    def __init__(self, definition: Definition, backend: Backend) -> None:
        self._definition = definition
        self._key = definition.key
        self._backend = backend
        self._tests: CallTests | None = getattr(backend.module, "CALL_TESTS", None)
        self.classes: set[type] = set()
        names = definition.parameters.arrays
        self.kernels: list[Kernel] = []
        usable: list[tuple[Callable[..., Any], Requirements]] = []
        for each in definition.kernels_of(backend.name):
            function = each.function_for(backend)
            if isinstance(function, str):
                self.kernels.append((each.name, definition.reference, partial(_refused, function)))
            else:
                self.kernels.append((each.name, function, partial(each.requirements.refusal, names, backend)))
                usable.append((function, each.requirements))
        self.kernels.append(("reference", definition.reference, always))
        self.serve_values = first_able(definition.name, self.kernels)
        self._is_plain = self._has_values if self._tests is None else eager_test(self._tests)
        self._carried: Callable[..., Any] | None = None
        self.function: Callable[..., Any]
        if self._tests is None or backend.name in definition.checks_all:
            self.function = self._serve_checked
        else:
            self.function = self._generated(self._tests, usable)

    def _generated(
        self, tests: CallTests, kernels: list[tuple[Callable[..., Any], Requirements]]
    ) -> Callable[..., Any]:
        definition = self._definition
        guarded: list[Guarded] = []
        names: dict[str, Any] = {
            "_choose": self._serve_checked,
            "_choose_from_now_on": self._serve_checked_from_now_on,
            "_classes": self.classes,
        }
        for function, requirements in kernels:
            found = requirements.expressions(definition.parameters, self._backend, tests)
            if found is None:  # later kernels can only be chosen by checking all arguments
                break
            guarded.append(Guarded(function, found[0]))
            names |= found[1]
        else:
            guarded.append(Guarded(definition.reference, self._device_tests(tests)))
        return serving_function(definition.short_name, definition.parameters, tests, guarded, names)

    def _device_tests(self, tests: CallTests) -> list[tuple[str, str]]:
        """If another library has kernels, its arrays may have these classes: an XLA tensor is a torch.Tensor."""
        first, test = self._definition.parameters.arrays[0], tests.device.get("any")
        if test is None or not self._definition.has_kernels_beside(self._backend.name):
            return []
        return [(first, test.format(x=first))]

    def _has_values(self, *arrays: Any) -> bool:
        return not any(self._backend.functions["is_lazy"](x) for x in arrays if x is not None)

    def _serve_checked(self, *arrays: Any, **options: Any) -> Any:
        """Serve a call whose first array is of this library by its class."""
        backend = self._definition.backend_of(arrays)
        served = self if backend is self._backend else self._definition.by(backend)
        return served.serve(*arrays, **options)

    def _serve_checked_from_now_on(self, *arrays: Any, **options: Any) -> Any:
        """Serve a call after a kernel raised `NotServed`, and check all arguments of later calls."""
        self._definition.check_all(self._backend.name)
        return self._serve_checked(*arrays, **options)

    def serve(self, *arrays: Any, **options: Any) -> Any:
        """Serve a call with arrays of this library, plainly or as its transformations need it."""
        if self._is_plain(*arrays):
            return self.serve_values(*arrays, **options)
        return getattr(resolved, self._publish_carried())(*arrays, **options)

    @constant_while_tracing
    def _publish_carried(self) -> str:
        """The name in `resolved` of the function that serves transformed calls. torch.compile does not trace this."""
        if self._carried is None:
            self._carried = self._backend.functions["carry_operation"](self._operation())
        return publish(f"{self._key}:{self._backend.name}:carried", self._carried)

    def _operation(self) -> Operation:
        own = self._definition
        return Operation(
            own.name,
            own.parameters.arrays,
            own.serve_values,
            own.reference,
            own.function,
            own.gradient,
            has_kernel=len(self.kernels) > 1,
            blockwise=own.blockwise,
        )


def _refused(reason: str, call: Call) -> str:
    """The capability test of a kernel that cannot serve here."""
    return reason
