"""Functions that only kernels call are optimized where they are called, and nowhere else.

Numba optimizes every function together with all that it calls and makes machine code of it, also
where nobody but another compiled function ever calls it: what lies five calls deep is optimized
five times. A *part* is typed and lowered once, tidied up by itself, and handed to the kernels that
call it, whose optimization inlines it or not. The way there is a compiler of our own, as numba's
``pipeline_class`` is for; its libraries of code are numba's own, less what is not needed.
"""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import gc
from typing import Any

import llvmlite.binding as ll
from numba.core import event
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, compile_result


class InnerCode(JITCodeLibrary):
    """The code of one function, to be linked into kernels; it has no address of its own."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    @property
    def codegen(self) -> Any:
        """Return who is told where numba's records of functions are: nobody."""
        return self

    def set_env(self, _name: str, _env: object) -> None:
        """Do nothing: the record would be written to an address of this code."""

    def serialize_using_object_code(self) -> tuple[str, bytes]:
        """Return the name and what can be linked."""
        return self.name, self._get_module_for_linking().as_bitcode()


class InnerCompiler(CompilerBase):
    """Numba's compiler, into a :class:`InnerCode`."""

    def define_pipelines(self) -> list[Any]:
        """Return numba's passes, for a library that is made beforehand."""
        state = self.state
        state.library = InnerCode(state.targetctx.codegen(), state.func_id.func_qualname)
        return [DefaultPassBuilder.define_nopython_pipeline(state)]


class KeptCode(JITCodeLibrary):
    """The code of a kernel that was kept on disk.

    Its functions and variables are not listed one by one, as numba does it in case somebody asks
    for one of them by name, and what others could link is read when a kernel is compiled that does:
    both together took as long as all the rest of loading.
    """

    linkable = b""

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of the entry from Python, which every kernel has."""
        return int(self._codegen._engine.get_function_address(name))

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            self._shared_module = ll.parse_bitcode(self.linkable)
        return self._shared_module


class KernelOnDisk(CompileResultCacheImpl):
    """Takes a kernel from the disk."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Make of what was written down what numba's compiler would have returned."""
        (name, _, (machine, linkable)), *_, environments = payload
        library = KeptCode(target_context.codegen(), name)
        library.enable_object_caching()
        library._set_compiled_object(machine)
        library.linkable = linkable
        library._finalize_final_module()
        made = _compiled(target_context, library, payload)
        for each in environments:
            library.codegen.set_env(each.env_name, each)
        return made


class InnerOnDisk(CompileResultCacheImpl):
    """Takes a part from the disk."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Make of what was written down what numba's compiler would have returned."""
        name, code = payload[0]
        library = InnerCode(target_context.codegen(), name)
        library._final_module = ll.parse_bitcode(code)
        library._finalize_final_module()
        return _compiled(target_context, library, payload)


def _compiled(target_context: Any, library: JITCodeLibrary, payload: Any) -> Any:
    _, function, env, signature, *_ = payload
    return compile_result(
        target_context=target_context,
        typing_context=target_context.typing_context,
        library=library,
        environment=env,
        entry_point=target_context.get_executable(library, function, env),
        fndesc=function,
        signature=signature,
        objectmode=False,
        lifted=(),
        type_annotation="",
        typing_error=None,
        call_helper=None,
        metadata=None,
        reload_init=[],
        referenced_envs=(),
    )


class _Untroubled(event.Listener):
    """Keeps Python from looking for garbage while kernels compile.

    Compiling makes millions of small objects and drops most of them by itself; a tenth of its time
    went into looking through all of them, and through all libraries, again and again.
    """

    depth = 0
    before = False

    def on_start(self, event: object) -> None:
        if not self.depth:
            self.before = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, event: object) -> None:
        self.depth -= 1
        if not self.depth and self.before:
            gc.enable()


event.register("numba:compile", _Untroubled())
