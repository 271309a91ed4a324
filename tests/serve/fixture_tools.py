"""The tools of the fixture that the conformance suite asks for, and how a tool is offered."""
# ruff: noqa: PT019 - named like tests by the suite, and none

import asyncio
import json
from collections.abc import Callable
from typing import NamedTuple

from fixture_call import MISSING_CAPABILITY, ROOTS, Refusal, form, sample

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kULOwAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
NAME = {"name": {"type": "string"}}
TOOLS = {}


class Tool(NamedTuple):
    definition: dict
    function: Callable


def tool(description, properties=None, **more):
    """Offer the function below as a tool; what is given of its schema has to come."""
    properties = properties or {}
    schema = {"type": "object", "properties": properties}
    if properties:
        schema["required"] = list(properties)

    def offer(function):
        name = function.__name__
        definition = {"name": name, "description": description, "inputSchema": schema} | more
        TOOLS[name] = Tool(definition, function)
        return function

    return offer


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def resource(uri, kind, words):
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": words}}


# -- what an answer can hold -------------------------------------------------------------------

IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}
EMBEDDED = resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")  # fmt: skip
MIXED = resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')


@tool("Says something.", annotations={"readOnlyHint": True})
async def test_simple_text(_call):
    return text("This is a simple text response for testing.")


@tool("Shows a picture.")
async def test_image_content(_call):
    return {"content": [IMAGE]}


@tool("Plays something.")
async def test_audio_content(_call):
    return {"content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]}


@tool("Brings a resource along.")
async def test_embedded_resource(_call):
    return {"content": [EMBEDDED]}


@tool("Has something of everything.")
async def test_multiple_content_types(_call):
    return {"content": [{"type": "text", "text": "Multiple content types test:"}, IMAGE, MIXED]}


@tool("Fails.")
async def test_error_handling(_call):
    return text("This tool intentionally returns an error for testing", isError=True)


# -- what is said meanwhile --------------------------------------------------------------------


@tool("Logs three times.")
async def test_tool_with_logging(call):
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        call.log(words)
        await asyncio.sleep(0.05)
    return text("Tool with logging executed successfully")


@tool("Logs once.")
async def test_logging_tool(call):
    call.log("A line of the log")
    return text("Logged.")


@tool("Tells how far it is.")
async def test_tool_with_progress(call):
    for done in (0, 50, 100):
        call.progress(done, 100, f"Completed step {done} of 100")
        await asyncio.sleep(0.05)
    return text(json.dumps(call.token))


@tool("Logs, and comes back.")
async def test_reconnection(call):
    call.log("Before disconnect")
    await asyncio.sleep(0.2)
    return text("Reconnection test completed")


# -- what is asked meanwhile -------------------------------------------------------------------


@tool("Asks the client's model.", {"prompt": {"type": "string"}})
async def test_sampling(call, prompt):
    answers = await call.answers({"sample": sample(prompt)})
    return text(f"LLM response: {answers['sample']['content']['text']}")


@tool("Asks the user.", {"message": {"type": "string"}})
async def test_elicitation(call, message):
    fields = {"response": {"type": "string", "description": "User's response"}}
    return await elicited(call, form(message, fields, ["response"]))


@tool("Asks the user, and suggests something.")
async def test_elicitation_sep1034_defaults(call):
    fields = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }  # fmt: skip
    return await elicited(call, form("Please review and update the form fields", fields))


@tool("Asks the user to choose, in five ways.")
async def test_elicitation_sep1330_enums(call):
    titled = [{"const": f"value{i}", "title": f"Title {i}"} for i in (1, 2, 3)]
    plain = ["option1", "option2", "option3"]
    fields = {
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", "enum": plain, "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    return await elicited(call, form("Please choose", fields))


async def elicited(call, request):
    answer = (await call.answers({"user": request}))["user"]
    content = json.dumps(answer.get("content", {}))
    return text(f"Elicitation completed: action={answer['action']}, content={content}")


@tool("Asks for a name while it works.")
async def test_streaming_elicitation(call):
    return await elicited(call, form("What is your name?", NAME, ["name"]))


@tool("Needs a client that has a model.")
async def test_missing_capability(call):
    if call.supports("sampling/createMessage"):
        return text("Nothing is missing.")
    if not call.is_modern:
        return text("sampling is missing", isError=True)
    needed = {"requiredCapabilities": {"sampling": {}}}
    raise Refusal(MISSING_CAPABILITY, "Missing required client capability", needed)


# -- questions as results (2026-07-28); a legacy client is asked the same ------------------------


@tool("Asks for a name.")
async def test_input_required_result_elicitation(call):
    answers = await call.answers({"user_name": form("What is your name?", NAME, ["name"])})
    return text(f"Hello, {answers['user_name'].get('content', {}).get('name')}!")


@tool("Asks the model for a capital.")
async def test_input_required_result_sampling(call):
    asked = {"capital_question": sample("What is the capital of France?")}
    answers = await call.answers(asked)
    return text(json.dumps(answers["capital_question"]["content"]))


@tool("Asks for the roots.")
async def test_input_required_result_list_roots(call):
    answers = await call.answers({"client_roots": ROOTS})
    return text(json.dumps(answers["client_roots"]["roots"]))


CONFIRM = form("Please confirm", {"ok": {"type": "boolean"}}, ["ok"])


@tool("Gives a state along.")
async def test_input_required_result_request_state(call):
    call.state()
    await call.answers({"confirm": CONFIRM}, "confirming")
    return text("state-ok")


@tool("Gives a signed state along.")
async def test_input_required_result_tampered_state(call):
    return await test_input_required_result_request_state(call)


@tool("Asks for three things at once.")
async def test_input_required_result_multiple_inputs(call):
    call.state()
    asked = {
        "user_name": form("What is your name?", NAME, ["name"]),
        "greeting": sample("Generate a greeting", 50),
        "client_roots": ROOTS,
    }
    answers = await call.answers(asked, "three")
    return text(json.dumps(answers))


@tool("Asks twice.")
async def test_input_required_result_multi_round(call):
    # A modern client answers one round at a time: what the state holds is answered already.
    first = form("Step 1: What is your name?", NAME, ["name"])
    if call.state() != "second":
        await call.answers({"step1": first}, "first")
    color = {"color": {"type": "string"}}
    second = form("Step 2: What is your favorite color?", color, ["color"])
    await call.answers({"step2": second}, "second")
    return text("Both steps are done.")


@tool("Asks for what the client can do.")
async def test_input_required_result_capabilities(call):
    possible = {
        "name": form("What is your name?", NAME, ["name"]),
        "greeting": sample("Generate a greeting"),
        "roots": ROOTS,
    }
    asked = {key: request for key, request in possible.items() if call.supports(request[0])}
    answers = await call.answers(asked) if asked else {}
    return text(f"Asked for: {', '.join(answers) or 'nothing'}")


# -- schemas -----------------------------------------------------------------------------------


ADDRESS = {
    "$anchor": "addressDef",
    "type": "object",
    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
}
KEYWORDS = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": ADDRESS},
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@tool("Tool with JSON Schema 2020-12 features", inputSchema=KEYWORDS)
async def json_schema_2020_12_tool(_call, **arguments):
    return text(json.dumps(arguments))


@tool("Says where it runs.", {"region": {"type": "string", "x-mcp-header": "Region"}})
async def test_x_mcp_header(_call, region):
    return text(f"Running in {region}.")
