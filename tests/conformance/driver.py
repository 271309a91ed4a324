"""The client that the conformance suite starts: performs a scenario with the thrall command.

    THRALL=/path/to/thrall python tests/conformance/driver.py URL

The suite names the scenario in MCP_CONFORMANCE_SCENARIO and gives some of them data in
MCP_CONFORMANCE_CONTEXT.  Nothing here speaks MCP: a list is `thrall pin - --url URL`, a call
is `thrall call TOOL --url URL`.  The status is the first of thrall's that was not 0.
"""

import json
import os
import shlex
import subprocess
import sys

# A hanging thrall is ended by itself, or failing that from here: the suite would wait for it.
DEADLINES = ["--timeout", "15", "--start-timeout", "15"]
LIMIT = 45

# thrall asks for no list that was not declared.
NO_TOOLS = "the server offers no tools: it declares no such capability"

# What a client has to leave out of http-invalid-tool-headers.
BROKEN = (
    "invalid_empty_header",
    "invalid_object_header",
    "invalid_array_header",
    "invalid_null_header",
    "invalid_number_header",
    "invalid_duplicate_same_case",
    "invalid_duplicate_diff_case",
    "invalid_space_in_name",
    "invalid_colon_in_name",
    "invalid_non_ascii_name",
    "invalid_control_char_name",
)


class Driver:
    def __init__(self, url):
        self.url = url
        self.status = 0

    def run(self, words, text=""):
        """Run thrall; return its status, output and words, and repeat them in the suite's log."""
        command = [*shlex.split(os.environ["THRALL"]), *words, "--url", self.url, *DEADLINES]
        result = subprocess.run(command, input=text.encode(), capture_output=True, timeout=LIMIT)
        told = result.stderr.decode(errors="replace")
        print(f"{shlex.join(command)} <<< {text!r}: status {result.returncode}\n{told}",
              file=sys.stderr, flush=True)  # fmt: skip
        return result.returncode, result.stdout, told

    def remember(self, status):
        self.status = self.status or status

    def list(self):
        """Pin the server; return the definitions of its tools by name."""
        status, out, _ = self.run(["pin", "-"])
        self.remember(status)
        if status:
            return {}
        (entry,) = json.loads(out)["servers"].values()
        return {name: item["definition"] for name, item in entry["tools"].items()}

    def connect(self):
        """Pin a server that may declare no tools: thrall then stops behind the handshake."""
        status, _, told = self.run(["pin", "-"])
        self.remember(0 if NO_TOOLS in told else status)

    def call(self, name, arguments, *options):
        status, *_ = self.run(["call", name, *options], json.dumps(arguments))
        self.remember(status)

    def refuse(self, name):
        """Call a tool that thrall must not know; the server would answer."""
        status, *_ = self.run(["call", name], "{}")
        self.remember(0 if status else 1)


def call_one(name, arguments, *options):
    def steps(driver):
        driver.list()
        driver.call(name, arguments, *options)

    return steps


def call_all(driver, *options):
    for name in driver.list():
        driver.call(name, {}, *options)


def call_all_declining(driver):
    """Call tools that come back with a question; it is the round after it that is judged."""
    call_all(driver, "--decline")


def call_given(driver):
    """Make the calls of the context, which show how arguments are written as headers."""
    driver.list()
    for call in json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])["toolCalls"]:
        driver.call(call["name"], call["arguments"])


def call_all_but_broken(driver):
    call_all(driver)
    for name in BROKEN:
        driver.refuse(name)


def echo_schema(driver):
    """Send a pinned schema back; json keeps its names, and the values of its numbers."""
    tools = driver.list()
    if tools:
        schema = tools["json_schema_2020_12_tool"]["inputSchema"]
        driver.call("json_schema_echo", {"schema": schema})


# What is not here is a list and nothing else: `json-schema-ref-no-deref`, and `auth/...`, which
# ends at the first 401.
STEPS = {
    "initialize": Driver.connect,
    "request-metadata": Driver.connect,
    "tools_call": call_one("add_numbers", {"a": 5, "b": 3}),
    "sse-retry": call_one("test_reconnection", {}),
    "elicitation-sep1034-client-defaults": call_one(
        "test_client_elicitation_defaults", {}, "--accept-defaults"
    ),
    "json-schema-2020-12-preservation": echo_schema,
    "http-standard-headers": call_all,
    "http-custom-headers": call_given,
    "http-invalid-tool-headers": call_all_but_broken,
    "sep-2322-client-request-state": call_all_declining,
}


def main():
    driver = Driver(sys.argv[-1])
    STEPS.get(os.environ["MCP_CONFORMANCE_SCENARIO"], Driver.list)(driver)
    sys.exit(driver.status)


if __name__ == "__main__":
    main()
