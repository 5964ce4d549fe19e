"""Compile kernels with less work than numba does by itself, to code that gives the same numbers to the bit.

A kernel calls others, which call others.  By itself numba gives each of them machine code and two wrappers of
its own, and optimizes it again inside each of its callers.  Lean, a kernel that only kernels call stays
intermediate code: it is linked into the kernels that are called by address, and optimized there, once.  A
literal argument is its type, or each number would compile a kernel anew.  What an operator gives for operands
of some types is looked up once: in a tick that is asked 20 000 times, and there are 350 answers.  Loops are
neither vectorized nor unrolled: those of a tick are a few turns long.  A tick runs through more code than the
first cache of a processor holds, and without unrolling an arm in contact takes a sixteenth less.

This replaces parts of numba, and leaves kernels behind that Python cannot call.  So it is for a process that
compiles, keeps what it compiled on disk, and ends (beside.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from numba import types
from numba.core import sigutils
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.cpu import CPUContext, _dynfunc
from numba.core.dispatcher import Dispatcher
from numba.core.targetconfig import TargetConfig
from numba.core.types.functions import BaseFunction

_inner: list[bool] = []  # of the kernels being compiled, outermost first: whether only kernels call it


class _Intermediate(JITCodeLibrary):
    """Code of an inner kernel: neither linked with what it calls, nor optimized, nor made machine code."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalize_dynamic_globals()
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            for function in self._final_module.functions:
                if not function.is_declaration and function.linkage == llvm.Linkage.external:
                    function.linkage = "linkonce_odr"
            self._shared_module = self._final_module
        return self._shared_module

    def get_pointer_to_function(self, name: str) -> int:
        return 0


class _Whole(JITCodeLibrary):
    """Code of a kernel that is kept on disk: linked with all that it calls, at whatever depth, each once."""

    def finalize(self) -> None:
        found, waiting = [], list(self._linking_libraries)
        while waiting:
            library = waiting.pop()
            if library not in found:
                found.append(library)
                if isinstance(library, _Intermediate):
                    waiting.extend(library._linking_libraries)
        self._linking_libraries = found
        super().finalize()


class _Outermost(_Whole):
    """Code of a kernel that is called by address, and linked into nothing else."""

    def serialize_using_object_code(self) -> Any:
        """Machine code and the names in it: loading all the intermediate code would take most of the time."""
        self._ensure_finalized()
        module, lines = self._final_module, []
        for function in module.functions:
            if not function.is_declaration and not function.name.startswith("NRT_"):
                lines.append(f'define void @"{function.name}"() {{ unreachable }}')
        for variable in module.global_variables:
            if not variable.is_declaration:
                lines.append(f'@"{variable.name}" = global i8* null')
        names = llvm.parse_assembly("\n".join(lines))
        return self.name, "object", (self._get_compiled_object(), names.as_bitcode())


def install() -> None:
    """Have this process compile so from now on."""
    compile_kernel: Callable[..., Any] = Dispatcher.compile
    call_template: Callable[..., Any] = Dispatcher.get_call_template
    executable: Callable[..., Any] = CPUContext.get_executable
    call_type: Callable[..., Any] = BaseFunction.get_call_type
    answers: dict[Any, tuple[Any, Any]] = {}  # signature and key of the implementation

    def compile_lean(self: Any, signature: Any) -> Any:
        inner = bool(_inner) and isinstance(self._cache, NullCache)
        if inner:
            self.targetoptions |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
            arguments, _ = sigutils.normalize_signature(signature)
            signature = tuple(types.unliteral(a) for a in arguments)
        _inner.append(inner)
        try:
            return compile_kernel(self, signature)
        finally:
            _inner.pop()

    def template_lean(self: Any, arguments: Any, keywords: Any) -> Any:
        return call_template(self, tuple(types.unliteral(a) for a in arguments), keywords)

    def call_type_lean(self: Any, context: Any, arguments: Any, keywords: Any) -> Any:
        if keywords:
            return call_type(self, context, arguments, keywords)
        asked = type(self), self.key, tuple(arguments)
        if asked not in answers:
            signature = call_type(self, context, arguments, keywords)
            answers[asked] = signature, self._impl_keys[signature.args]
        signature, implementation = answers[asked]
        self._impl_keys[signature.args] = implementation
        return signature

    def library_lean(self: Any, name: str, **options: Any) -> JITCodeLibrary:
        if not _inner:
            return JITCodeLibrary(self, name, **options)
        kind = _Intermediate if _inner[-1] else _Outermost if len(_inner) == 1 else _Whole
        return kind(self, name, **options)

    def passes_lean(self: Any, **options: Any) -> Any:
        tuning = llvm.create_pipeline_tuning_options()
        tuning.speed_level = options.get("opt", 3)
        tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_unrolling = False
        return llvm.create_pass_builder(self._tm, tuning)

    def executable_lean(self: Any, library: Any, description: Any, environment: Any) -> Any:
        if not isinstance(library, _Intermediate):
            return executable(self, library, description, environment)
        module, name = description.lookup_module(), description.qualname.split(".")[-1]
        return _dynfunc.make_function(module, name, "", 0, environment, (library,))

    def equal(self: Any, other: object) -> bool:
        if self is other or not isinstance(other, TargetConfig):
            return self is other
        return bool(self._values == other._values or self.values() == other.values())

    def hashed(self: Any) -> int:
        return hash(type(self))

    replaced: list[tuple[Any, str, Any]] = [
        (Dispatcher, "compile", compile_lean),
        (Dispatcher, "get_call_template", template_lean),
        (BaseFunction, "get_call_type", call_type_lean),
        (JITCPUCodegen, "create_library", library_lean),
        (JITCPUCodegen, "_pass_builder", passes_lean),
        (CPUContext, "get_executable", executable_lean),
        (TargetConfig, "__eq__", equal),  # both for each overloaded function that is looked up
        (TargetConfig, "__hash__", hashed),
    ]
    for owner, name, replacement in replaced:
        setattr(owner, name, replacement)
