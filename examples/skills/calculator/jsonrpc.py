"""JSON-RPC 2.0 around the arithmetic."""

from arithmetic import BadInput, answer

INVALID_PARAMS = -32602


def reply(request):
    """The response object to one request object; input that cannot be answered gives an error, not a result."""
    response = {"jsonrpc": "2.0", "id": request.get("id")}
    try:
        return {**response, "result": {"result": answer(request.get("params"))}}
    except BadInput as error:
        return {**response, "error": {"code": INVALID_PARAMS, "message": str(error)}}
