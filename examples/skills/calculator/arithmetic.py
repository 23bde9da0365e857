"""Arithmetic expressions, factorials, reversed texts and palindromes, with the standard library alone."""

import ast
import math
import operator

MAX_EXPRESSION = 1_000
MAX_FACTORIAL = 1_000
MAX_BITS = 10_000


class BadInput(ValueError):
    """The input names no known operation, or lacks what its operation needs."""


def answer(params):
    """The result of ``{"operation": …, …}``; without an operation, ``expression`` is evaluated.

    Raises BadInput for anything else than evaluate {expression}, factorial {n}, reverse {text}, is_palindrome {text}.
    """
    if not isinstance(params, dict):
        raise BadInput("the input must be an object")
    operation = params.get("operation", "evaluate")
    if operation == "evaluate":
        return evaluate(_need(params, "expression", str))
    if operation == "factorial":
        return factorial(_need(params, "n", int))
    if operation == "reverse":
        return _need(params, "text", str)[::-1]
    if operation == "is_palindrome":
        return is_palindrome(_need(params, "text", str))
    raise BadInput(f"unknown operation {operation!r}; known are evaluate, factorial, reverse, is_palindrome")


def evaluate(expression):
    """The value of an expression of numbers, parentheses and ``+ - * / // % **``; a whole number without its ``.0``."""
    if len(expression) > MAX_EXPRESSION:
        raise BadInput(f"the expression has {len(expression)} characters; at most {MAX_EXPRESSION} are read")
    try:
        return _plain(_value(ast.parse(expression.strip(), mode="eval").body))
    except (SyntaxError, ValueError, ArithmeticError, RecursionError) as error:
        raise BadInput(f"cannot evaluate {expression!r}: {error}") from None


def factorial(n):
    if not 0 <= n <= MAX_FACTORIAL:
        raise BadInput(f"n must be between 0 and {MAX_FACTORIAL}; got {n}")
    return math.factorial(n)


def is_palindrome(text):
    """Whether the letters and digits of `text` read the same backwards, whatever their case."""
    letters = [character.casefold() for character in text if character.isalnum()]
    return letters == letters[::-1]


def _plain(value):
    if value.bit_length() > MAX_BITS if isinstance(value, int) else not math.isfinite(value):
        raise BadInput("the result is too large")
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _power(base, exponent):
    # 9**9**9 would take all the memory there is.
    if abs(exponent) * math.ceil(max(abs(base), 2)).bit_length() > MAX_BITS:
        raise BadInput(f"{base}**{exponent} is too large")
    value = base**exponent
    if isinstance(value, complex):
        raise BadInput(f"{base}**{exponent} is no real number")
    return value


_BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
_UNARY = {ast.UAdd: operator.pos, ast.USub: operator.neg}


def _value(node):
    """The value of a syntax tree that holds numbers and operators only: no name is looked up and nothing is called."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_value(node.operand))
    raise BadInput("only numbers, parentheses and + - * / // % ** are understood")


def _need(params, name, kind):
    value = params.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise BadInput(f"{name} must be {'a text' if kind is str else 'a whole number'}; got {value!r}")
    return value
