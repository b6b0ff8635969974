"""Drives one turn and one recovery: client.py FOLDER SESSION REQUEST.json (a chat.completions request)"""
import hashlib, json, socket, struct, sys

TOOL = {"type": "function", "function": {"name": "token_terminator", "description": "Exact text left out of earlier results, by id.",
        "parameters": {"type": "object", "required": ["action"], "properties": {
            "action": {"type": "string", "enum": ["artifact_get", "artifact_find", "artifact_lines", "artifact_peek"]},
            "artifact_id": {"type": "string"}, "offset": {"type": "integer"}, "limit": {"type": "integer"}, "query": {"type": "string"}}}}}
if len(sys.argv) != 4:
    sys.exit(f"usage: {__doc__}\nFOLDER is the one that holds daemon.json, SESSION any name")
folder, session, path = sys.argv[1:]
info = json.load(open(folder + "/daemon.json"))
sock = socket.socket(socket.AF_UNIX if "socket" in info else socket.AF_INET)
address, _, port = info.get("address", "").rpartition(":")
sock.connect(info["socket"] if "socket" in info else (address, int(port)))
stream, asked = sock.makefile("rb"), 0

def ask(kind, body, request=b"null"):
    global asked
    asked += 1
    data = json.dumps({"id": asked, "deadline_ms": 5000, **body}).encode()
    data = data[:-1] + b',"request_json":' + request + b"}" if kind == 2 else data
    sock.sendall(struct.pack(">IB", len(data) + 1, kind) + data)
    length, _ = struct.unpack(">IB", stream.read(5))
    return json.loads(stream.read(length - 1))

ask(1, {"protocol": 1, "client": "client.py", "version": "0", "home": "", "env": {}, "token": info.get("token", "")})
request, digest = json.load(open(path, "rb")), ""
if TOOL["function"]["name"] not in [t["function"]["name"] for t in request.setdefault("tools", [])]:
    request["tools"].append(TOOL)
answer = ask(2, {"binding": {"session": session}, "scope": {"request_purpose": "conversation"}}, json.dumps(request).encode())
for edit in answer.get("edits", []):
    *way, last = [int(p) if p.isdigit() else p for p in edit["pointer"].split("/")[1:]]
    parent = request
    for step in way:
        parent = parent[step]
    digest = hashlib.sha256(parent[last].encode()).hexdigest()
    assert digest == edit["sha256_before"]
    parent[last] = edit["value"]
page = ask(5, {"binding": {"session": session}, "action": "artifact_get", "artifact_id": "a_" + digest[:32]})
json.dump({"answer": answer, "request": request, "page": page}, sys.stdout)
