"""Drives one turn and one recovery: client.py FOLDER SESSION REQUEST.json"""
import hashlib, json, socket, struct, sys

folder, session, path = sys.argv[1:4]
info = json.load(open(folder + "/daemon.json"))
if "socket" in info:
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(info["socket"])
else:
    address, port = info["address"].rsplit(":", 1)
    sock = socket.create_connection((address, int(port)))
stream, asked = sock.makefile("rb"), 0

def ask(kind, body, request=None):
    global asked
    asked += 1
    data = json.dumps({"id": asked, "deadline_ms": 5000, **body}).encode()
    if request is not None:
        data = data[:-1] + b',"request_json":' + request + b"}"
    sock.sendall(struct.pack(">IB", len(data) + 1, kind) + data)
    length, _ = struct.unpack(">IB", stream.read(5))
    return json.loads(stream.read(length - 1))

def place(value, pointer):
    *path, last = [int(p) if p.isdigit() else p for p in pointer.split("/")[1:]]
    for step in path:
        value = value[step]
    return value, last

ask(1, {"protocol": 1, "client": "client.py", "version": "0", "home": "", "env": {}, "token": info.get("token", "")})
own, digest = open(path, "rb").read(), ""
request = json.loads(own)
answer = ask(2, {"binding": {"session": session}, "scope": {"request_purpose": "conversation"}}, own)
for edit in answer.get("edits", []):
    parent, last = place(request, edit["pointer"])
    digest = hashlib.sha256(parent[last].encode()).hexdigest()
    assert digest == edit["sha256_before"]
    parent[last] = edit["value"]
page = ask(5, {"binding": {"session": session}, "action": "artifact_get", "artifact_id": "a_" + digest[:32]})
json.dump({"answer": answer, "request": request, "page": page}, sys.stdout)
