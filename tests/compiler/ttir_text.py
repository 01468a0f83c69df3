"""TTIR texts of small kernels, as a traced kernel is before encodings are assigned."""

from __future__ import annotations

from tests.oracle.mlir import parse_module
from tritonlint.compiler.graph import GOp, Graph

HEADER = "module {\n  tt.func public @kernel("


def kernel(arguments: str, body: str) -> Graph:
    """A kernel of the given arguments, "%x: i32, ...", and statements."""
    return parse_module(f"{HEADER}{arguments}) {{\n{body}\n    tt.return\n  }}\n}}\n")


def product(
    m: int = 128, n: int = 128, k: int = 64, element: str = "f16", out: str = "f32", loop_attrs: str = ""
) -> Graph:
    """C[m, n] = sum over tiles A[m, k] B[k, n], both operands with their rows in one piece."""

    def pointers(name: str, rows: int, columns: int, type_: str) -> str:
        tensor = f"tensor<{rows}x{columns}"
        return f"""
    %{name}r = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32>
    %{name}c = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : tensor<{columns}xi32>
    %{name}e = tt.expand_dims %{name}r {{axis = 1 : i32}} : tensor<{rows}xi32> -> tensor<{rows}x1xi32>
    %{name}f = tt.expand_dims %{name}c {{axis = 0 : i32}} : tensor<{columns}xi32> -> tensor<1x{columns}xi32>
    %{name}s = tt.splat %stride : i32 -> tensor<{rows}x1xi32>
    %{name}m = arith.muli %{name}e, %{name}s : tensor<{rows}x1xi32>
    %{name}x = tt.broadcast %{name}m : tensor<{rows}x1xi32> -> {tensor}xi32>
    %{name}y = tt.broadcast %{name}f : tensor<1x{columns}xi32> -> {tensor}xi32>
    %{name}o = arith.addi %{name}x, %{name}y : {tensor}xi32>
    %{name}t = tt.splat %{name} : !tt.ptr<{type_}> -> {tensor}x!tt.ptr<{type_}>>
    %{name}p = tt.addptr %{name}t, %{name}o : {tensor}x!tt.ptr<{type_}>>, {tensor}xi32>"""

    a, b, c = f"tensor<{m}x{k}", f"tensor<{k}x{n}", f"tensor<{m}x{n}"
    pa, pb = f"{a}x!tt.ptr<{element}>>", f"{b}x!tt.ptr<{element}>>"
    divisible = "{tt.divisibility = 16 : i32}"
    arguments = ", ".join(
        [
            f"%a: !tt.ptr<{element}> {divisible}",
            f"%b: !tt.ptr<{element}> {divisible}",
            f"%c: !tt.ptr<{out}> {divisible}",
            f"%n: i32 {divisible}",
            f"%stride: i32 {divisible}",
        ]
    )
    carried = "%x = %zero, %ai = %ap, %bi = %bp"
    body = f"""
    %c0 = arith.constant 0 : i32
    %ck = arith.constant {k} : i32
    %zero = arith.constant dense<0.000000e+00> : {c}x{out}>
    %stepa = arith.constant dense<{k}> : {a}xi32>
    %stepb = arith.constant dense<{k * n}> : {b}xi32>{pointers("a", m, k, element)}{pointers("b", k, n, element)}
    %acc:3 = scf.for %i = %c0 to %n step %ck iter_args({carried}) -> ({c}x{out}>, {pa}, {pb}) : i32 {{
      %av = tt.load %ai : {pa}
      %bv = tt.load %bi : {pb}
      %d = tt.dot %av, %bv, %x, inputPrecision = tf32 : {a}x{element}> * {b}x{element}> -> {c}x{out}>
      %an = tt.addptr %ai, %stepa : {pa}, {a}xi32>
      %bn = tt.addptr %bi, %stepb : {pb}, {b}xi32>
      scf.yield %d, %an, %bn : {c}x{out}>, {pa}, {pb}
    }} {loop_attrs}{pointers("c", m, n, out)}
    tt.store %cp, %acc#0 : {c}x!tt.ptr<{out}>>"""
    return kernel(arguments, body)


def named(graph: Graph, name: str) -> list[GOp]:
    """The operations of one name, in program order."""
    return [op for op in graph.all_ops() if op.name == name]
