"""The prompts, resources and completions of the fixture; names and texts are the conformance suite's."""

import json
import re

from fixture_call import INVALID_PARAMS, Refusal, form
from fixture_tools import PNG

RESOURCES = [
    {"uri": "test://static-text", "name": "static-text", "mimeType": "text/plain"},
    {"uri": "test://static-binary", "name": "static-binary", "mimeType": "image/png"},
    {"uri": "test://watched-resource", "name": "watched-resource", "mimeType": "text/plain"},
]
TEMPLATES = [
    {"uriTemplate": "test://template/{id}/data", "name": "data", "mimeType": "application/json"},
]
CONTENTS = {
    "test://static-text": {
        "mimeType": "text/plain",
        "text": "This is the content of the static text resource.",
    },
    "test://static-binary": {"mimeType": "image/png", "blob": PNG},
    "test://watched-resource": {"mimeType": "text/plain", "text": "Watched."},
}
TEMPLATE = re.compile("test://template/([^/]+)/data")
ARGUMENTS = [
    {"name": name, "description": "Any text.", "required": True} for name in ("arg1", "arg2")
]
PROMPTS = [
    {"name": "test_simple_prompt", "description": "Without arguments."},
    {"name": "test_prompt_with_arguments", "description": "With two.", "arguments": ARGUMENTS},
    {
        "name": "test_prompt_with_embedded_resource",
        "description": "With a resource in it.",
        "arguments": [{"name": "resourceUri", "description": "Its URI.", "required": True}],
    },
    {"name": "test_prompt_with_image", "description": "With a picture in it."},
    {"name": "test_input_required_result_prompt", "description": "Asks for its context."},
]


async def read_resource(call):
    uri = call.params["uri"]
    templated = TEMPLATE.fullmatch(uri)
    if uri in CONTENTS:
        content = CONTENTS[uri]
    elif templated:
        data = {"id": templated[1], "templateTest": True, "data": f"Data for ID: {templated[1]}"}
        content = {"mimeType": "application/json", "text": json.dumps(data)}
    else:
        code = INVALID_PARAMS if call.is_modern else -32002
        raise Refusal(code, "Resource not found", {"uri": uri})
    cache = {"ttlMs": 0, "cacheScope": "private"} if call.is_modern else {}
    return {"contents": [{"uri": uri, **content}], **cache}


async def complete(call):
    typed = call.params["argument"]["value"]
    values = [word for word in ("paris", "park", "party") if word.startswith(typed)]
    return {"completion": {"values": values, "total": len(values), "hasMore": False}}


async def get_prompt(call):
    made = MAKERS.get(call.params["name"])
    if made is None:
        raise Refusal(INVALID_PARAMS, f"Unknown prompt: {call.params['name']}")
    contents = await made(call, **call.params.get("arguments", {}))
    return {"messages": [{"role": "user", "content": content} for content in contents]}


def said(text):
    return {"type": "text", "text": text}


async def simple(_call):
    return [said("This is a simple prompt for testing.")]


async def with_arguments(_call, arg1, arg2):
    return [said(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")]


async def with_resource(_call, resourceUri):  # noqa: N803 - the argument's name
    resource = {
        "uri": resourceUri,
        "mimeType": "text/plain",
        "text": "Embedded resource content for testing.",
    }
    return [
        {"type": "resource", "resource": resource},
        said("Please process the embedded resource above."),
    ]


async def with_image(_call):
    return [
        {"type": "image", "data": PNG, "mimeType": "image/png"},
        said("Please analyze the image above."),
    ]


async def with_input(call):
    wanted = form(
        "What context should the prompt use?", {"context": {"type": "string"}}, ["context"]
    )
    answers = await call.answers({"user_context": wanted})
    return [said(f"In the context of {answers['user_context'].get('content', {}).get('context')}.")]


MAKERS = {
    "test_simple_prompt": simple,
    "test_prompt_with_arguments": with_arguments,
    "test_prompt_with_embedded_resource": with_resource,
    "test_prompt_with_image": with_image,
    "test_input_required_result_prompt": with_input,
}
