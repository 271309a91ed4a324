"""Serves a server on the Python SDK over stdio, or over HTTP on a socket that is handed on.

    SERVER [stateful | stateless | json | sse] [FD]

The socket listens already, so nobody has to wait for the server.  A line on stdout tells of each
HTTP request, with the method of the message in it.  Where WANTED_TOKEN is set, a request without
that bearer token gets 401.
"""

import os
import re
import socket
import sys

METHOD = re.compile(rb'"method": ?"([^"]+)"')
CHALLENGE = (b"www-authenticate", b'Bearer realm="real", error="invalid_token"')


def serve(server, streamable, sse):
    """Serve as the arguments say.

    `streamable` makes the application of Streamable HTTP of two facts, whether it is stateless and
    whether it answers in JSON; `sse` that of HTTP+SSE.
    """
    if len(sys.argv) == 1:
        server.run()
        return
    import uvicorn

    kind, number = sys.argv[1:]
    app = sse() if kind == "sse" else streamable(kind == "stateless", kind == "json")
    config = uvicorn.Config(guarded(app), log_level="warning")
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(number))])


def guarded(app):
    wanted = os.environ.get("WANTED_TOKEN")

    async def outer(scope, receive, send):
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        request = f"{scope['method']} {scope['path']}"

        async def heard():
            message = await receive()
            method = METHOD.search(message.get("body", b"")[:1000])
            if method:
                tell(f"{request} {method[1].decode()}")
            return message

        given = dict(scope["headers"]).get(b"authorization")
        if wanted and given != f"Bearer {wanted}".encode():
            tell(f"{request} 401")
            headers = [CHALLENGE, (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body"})
            return
        if scope["method"] != "POST":
            tell(request)
        await app(scope, heard, send)

    return outer


def tell(line):
    print(f"heard {line}", flush=True)
