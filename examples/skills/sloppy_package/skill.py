import json, sys

request = json.load(sys.stdin)
p = request["params"]
out = {"jsonrpc": "2.0", "id": request["id"]}
if p.get("operation") == "reverse":
    out["result"] = p["text"][::-1]
elif p.get("operation") == "is_palindrome":
    out["result"] = p["text"] == p["text"][::-1]
else:
    out["error"] = {"code": -32602, "message": "?"}
print(json.dumps(out))
