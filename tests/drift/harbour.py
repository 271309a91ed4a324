"""What the harbour's server offers when it is pinned. Built anew for every answer."""


def book_berth():
    return {
        "name": "book_berth",
        "title": "Book a berth",
        "description": "Reserves a place at the quay for one ship.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "ship": {
                    "type": "string",
                    "minLength": 2,
                    "maxLength": 40,
                    "pattern": "^[A-Z]",
                    "description": "Her registered name.",
                },
                "draught": {"type": "number", "exclusiveMinimum": 0, "maximum": 366.5},
                "nights": {"type": "integer", "minimum": 1, "maximum": 14, "default": 1},
                "quay": {"type": "string", "enum": ["north", "south", "fish"]},
                "services": {
                    "type": "array",
                    "maxItems": 4,
                    "items": {"type": "string", "enum": ["water", "power", "waste"]},
                },
                "arrival": {
                    "anyOf": [
                        {"type": "string", "description": "When she comes."},
                        {
                            "type": "object",
                            "properties": {
                                "tide": {"type": "integer", "title": "Tide", "examples": [1, 2]},
                                "pilot": {"type": "boolean", "default": False},
                            },
                            "required": ["tide", "pilot"],
                            "additionalProperties": False,
                        },
                    ]
                },
                "cargo": {"$ref": "#/$defs/cargo"},
                # Ordinary parameters with the names of members that do not matter elsewhere.
                "icons": {"type": "boolean", "description": "Whether the plan shows pennants."},
                "_meta": {"type": "string", "description": "A remark for the pilot."},
            },
            "required": ["ship", "quay"],
            "additionalProperties": False,
            "$defs": {
                "cargo": {
                    "type": "object",
                    "description": "What is in her holds.",
                    "properties": {
                        "goods": {"type": "string", "enum": ["grain", "ore", "cars"]},
                        "tons": {"type": "integer", "minimum": 0},
                    },
                    "required": ["goods"],
                    "patternProperties": {
                        "^x-": {"type": "string", "description": "A remark of the shipper."}
                    },
                },
                "ballast": {"type": "object"},
            },
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "berth": {"type": "integer", "minimum": 1, "maximum": 60},
                "state": {"type": "string", "enum": ["kept", "waiting", "refused"]},
                "fee": {"type": ["number", "null"]},
                "notices": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "text": {"type": "string", "description": "To be read on board."},
                            "since": {"const": 9007199254740992},
                        },
                        "required": ["text"],
                    },
                },
            },
            "required": ["berth", "state"],
            "additionalProperties": False,
        },
        "annotations": {
            "title": "Berths",
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        },
        "execution": {"taskSupport": "optional"},
        "icons": [{"src": "https://harbour.example/berth.png", "mimeType": "image/png"}],
        "_meta": {"harbour.example/desk": "quay office"},
    }


def find_ship():
    return {
        "name": "find_ship",
        "description": "Finds ships in the roads, off the caf\u00e9 too.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "by": {
                    "oneOf": [
                        {"type": "string", "minLength": 3},
                        {"type": "integer", "minimum": 1000000},
                    ]
                },
                "box": {
                    "type": "array",
                    "prefixItems": [{"type": "number"}, {"type": "number"}],
                },
                "flag": {"type": "string", "not": {"enum": ["none"]}},
                "age": {"allOf": [{"type": "integer"}, {"minimum": 0}]},
                "version": {"const": 1},
                "step": {"enum": [0, 1, 2]},
            },
            "if": {"required": ["flag"]},
            "then": {"required": ["age"]},
        },
    }


def read_tide():
    return {
        "name": "read_tide",
        "description": "Tells the height of the water at a time.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "at": {"type": "integer", "minimum": 0, "maximum": 9223372036854775807},
                "step": {"type": "number", "default": 0.25, "multipleOf": 0.25},
                "gauge": {"type": "string"},
            },
        },
        "annotations": {"readOnlyHint": True},
    }


def close_lock():
    return {
        "name": "close_lock",
        "description": "Closes the gates of the lock.",
        "inputSchema": {"type": "object", "properties": {"gate": {"type": "string"}}},
    }


def log_entry():
    return {
        "name": "log_entry",
        "description": "Writes into the log. " + "Be brief and use no abbreviations. " * 120,
        "inputSchema": {"type": "object"},
    }


def ring_bell():
    """No case touches this one."""
    return {
        "name": "ring_bell",
        "description": "Rings the bell once.",
        "inputSchema": {"type": "object", "properties": {}},
    }


def drop_anchor():
    """Not offered when the harbour is pinned."""
    return {
        "name": "drop_anchor",
        "description": "Drops the anchor.",
        "inputSchema": {"type": "object"},
    }


def offer():
    return {
        "server": {"name": "harbour", "version": "4.1"},
        "instructions": "Book a berth before you come in.",
        "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
        "envelope": {},  # more members of the results that hold a list
        "tools": [book_berth(), find_ship(), read_tide(), close_lock(), log_entry(), ring_bell()],
        "prompts": [
            {
                "name": "brief_captain",
                "description": "What a captain has to know.",
                "arguments": [
                    {"name": "ship", "description": "Her name.", "required": True},
                    {"name": "tone", "description": "Dry or friendly."},
                ],
            }
        ],
        "resources": [
            {
                "uri": "chart:today",
                "name": "chart",
                "description": "Depths of today.",
                "mimeType": "image/png",
                "annotations": {"audience": ["user"], "priority": 0.5},
            }
        ],
        "resourceTemplates": [
            {"uriTemplate": "berth:{number}", "name": "berth", "description": "One berth."}
        ],
    }
