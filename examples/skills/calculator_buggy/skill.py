"""A calculator as one writes it in a hurry. README.md lists what is wrong with it; leave it wrong, it is here to be caught."""

import json
import re
import sys


def evaluate(expression):
    return add(re.findall(r"\d+\.\d+|\d+|[-+*/()]", expression))


def add(tokens):
    value = multiply(tokens)
    if tokens and tokens[0] in "+-":
        sign = tokens.pop(0)
        rest = add(tokens)
        return value + rest if sign == "+" else value - rest
    return value


def multiply(tokens):
    value = number(tokens)
    if tokens and tokens[0] in "*/":
        sign = tokens.pop(0)
        rest = multiply(tokens)
        return value * rest if sign == "*" else value // rest
    return value


def number(tokens):
    token = tokens.pop(0)
    if token == "-":
        return -add(tokens)
    if token == "(":
        value = add(tokens)
        tokens.pop(0)
        return value
    return float(token) if "." in token else int(token)


def factorial(n):
    value = n
    for factor in range(2, n):
        value *= factor
    return value


def reverse(text):
    return text if len(text) == 1 else text[-1] + reverse(text[:-1])


def is_palindrome(text):
    return text == text[::-1]


OPERATIONS = {
    "evaluate": lambda params: evaluate(params["expression"]),
    "factorial": lambda params: factorial(params["n"]),
    "reverse": lambda params: reverse(params["text"]),
    "is_palindrome": lambda params: is_palindrome(params["text"]),
}


def reply(request):
    try:
        params = request["params"]
        return {"jsonrpc": "2.0", "result": {"result": OPERATIONS[params["operation"]](params)}, "id": request["id"]}
    except (KeyError, TypeError) as error:
        return {"jsonrpc": "2.0", "error": {"code": -32602, "message": f"bad input: {error!r}"}, "id": request["id"]}
    except (IndexError, ArithmeticError) as error:
        return {"jsonrpc": "2.0", "error": {"code": -32603, "message": f"internal error: {error!r}"}, "id": request["id"]}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(reply(json.loads(line))), flush=True)
