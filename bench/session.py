"""Call `echo` so many times in one session, each when the one before is answered.

python -I -S session.py N SERVER [WORD...]
"""
# ruff: noqa: INP001, S603, T201 - a script, which starts a server

import json
import subprocess
import sys

OPENING = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


def main() -> None:
    """Open, call, end."""
    count, *words = sys.argv[1:]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe) as process:

        def send(**message: object) -> None:
            process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n")
            process.stdin.flush()

        def ask(number: int, method: str, params: dict) -> dict:
            send(id=number, method=method, params=params)
            while (answer := json.loads(process.stdout.readline())).get("id") != number:
                pass
            return answer["result"]

        ask(0, "initialize", OPENING)
        send(method="notifications/initialized")
        for number in range(1, int(count) + 1):
            params = {"name": "echo", "arguments": {"text": f"hi {number}"}}
            text = ask(number, "tools/call", params)["content"][0]["text"]
            assert text == f"hi {number}", text
        process.stdin.close()
        print(text)


if __name__ == "__main__":
    main()
