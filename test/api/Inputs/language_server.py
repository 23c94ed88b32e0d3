"""Speaks the language server protocol to a program: what an editor sends while a file is opened, mistyped, and looked at."""
import json
import subprocess
import sys

MODULE = """#CSR = #tulle.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @f(%A: tensor<4x4xf64, #CSR>) -> tensor<4x4xf64> {
  %C = tulle.convert %A : tensor<4x4xf64, #CSR> to tensor<4x4xf64>
  return %C : tensor<4x4xf64>
}
"""
URI = "file:///module.mlir"


class Server:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0

    def send(self, **message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.process.stdin.flush()

    def receive(self):
        length = None
        for line in iter(self.process.stdout.readline, b"\r\n"):
            if not line:
                sys.exit("the server ended")
            name, value = line.split(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, **params):
        self.number += 1
        self.send(id=self.number, method=method, params=params)
        answer = self.receive()
        assert answer["id"] == self.number, answer
        return answer["result"]

    def diagnostics(self, method, **params):
        self.send(method=method, params=params)
        answer = self.receive()
        assert answer["method"] == "textDocument/publishDiagnostics" and answer["params"]["uri"] == URI, answer
        return answer["params"]["diagnostics"]


def place(span):
    return "{line}:{character}".format(**span["start"]) + "-{line}:{character}".format(**span["end"])


def main():
    server = Server(sys.argv[1])
    print("hover:", server.ask("initialize", processId=None, rootUri=None, capabilities={})["capabilities"]["hoverProvider"])
    document = {"uri": URI, "languageId": "mlir", "version": 0, "text": MODULE}
    print("opened:", server.diagnostics("textDocument/didOpen", textDocument=document))
    hover = server.ask("textDocument/hover", textDocument={"uri": URI}, position={"line": 2, "character": 10})
    print("op at", place(hover["range"]), hover["contents"]["value"])
    definition = server.ask("textDocument/definition", textDocument={"uri": URI}, position={"line": 3, "character": 10})
    print("defined at", place(definition[0]["range"]))
    changes = [("a format", "j : compressed", "j : compresed"), ("an op", "tulle.convert", "tulle.convrt"),
               ("a type", "to tensor<4x4xf64>", "to tensor<4x5xf64>")]
    for version, (what, right, wrong) in enumerate(changes, start=1):
        found = server.diagnostics("textDocument/didChange", textDocument={"uri": URI, "version": version},
                                   contentChanges=[{"text": MODULE.replace(right, wrong)}])
        for one in found:
            print(what, "at", place(one["range"]) + ":", one["message"])
    print("shutdown:", server.ask("shutdown"))
    server.send(method="exit")
    return server.process.wait(timeout=20)


sys.exit(main())
