"""What is no change: order, spelling, paging, the frame of a list, and noise."""

from drift.cases import quiet
from drift.edits import (
    add,
    ahead,
    in_pages,
    keys_turned,
    only_from,
    put,
    respelled,
    says,
    turned,
    written,
)
from drift.harbour import close_lock

INPUT = "tools/book_berth/inputSchema"
FOREIGN = '{"jsonrpc":"2.0","id":"ID-7","result":{"tools":[]}}'
NOTIFICATION = '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"tools"}}'
LIST_CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
PING = '{"jsonrpc":"2.0","id":ID,"method":"ping"}'

CASES = {
    "nothing": quiet("The server is as it was"),
    # Order
    "tools-turned": quiet("The tools are in another order", turned("tools"), era="legacy"),
    "keys-turned": quiet("All keys are in another order", keys_turned(), era="modern"),
    "required-turned": quiet(
        "required is in another order, in outputs too",
        turned(f"{INPUT}/required"),
        turned(f"{INPUT}/properties/arrival/anyOf/1/required"),
        turned("tools/book_berth/outputSchema/required"),
        same_bytes=False,
    ),
    # Spelling
    "numbers-respelled": quiet(
        "Numbers have points, exponents and zeros",
        respelled('"maximum":366.5', '"maximum":3.6650E+02'),
        respelled('"maximum":14', '"maximum":140e-1'),
        respelled('"default":1}', '"default":1.000}'),
        respelled('"multipleOf":0.25', '"multipleOf":25E-2'),
    ),
    "large-numbers-respelled": quiet(
        "Large numbers have exponents",
        respelled("9223372036854775807", "9.223372036854775807e18"),
        respelled("9007199254740992", "9007199254740992.0"),
    ),
    "zero-below-zero": quiet(
        "0 is written -0.0 and 0e9",
        respelled('"exclusiveMinimum":0', '"exclusiveMinimum":-0.0'),
        respelled('"enum":[0,1,2]', '"enum":[-0,1e0,2]'),
        respelled('"minimum":0', '"minimum":0e9'),
    ),
    "escapes": quiet(
        "Characters are escaped, in keys too",
        written(ascii_only=True),
        respelled('"inputSchema"', '"inputSch\\u0065ma"'),
        respelled("https://harbour", "https:\\/\\/harbour"),
    ),
    "white-space": quiet(
        "White space stands between all tokens",
        written(separators=(" ,\t", "  : "), line_end=" \r\n"),
    ),
    # Paging
    "pages": quiet("The tools are on three pages", in_pages(1, 4, 1), era="legacy"),
    "pages-turned": quiet(
        "The tools are on other pages and in another order", turned("tools"), in_pages(4, 2)
    ),
    "pages-empty": quiet(
        "The first, a middle and the last page are empty", in_pages(0, 3, 0, 3, 0), era="modern"
    ),
    "pages-of-prompts": quiet(
        "The prompts begin on the second page", in_pages(0, 1, member="prompts")
    ),
    "cursor-null": quiet("The last cursor is null", in_pages(3, 3, last={"nextCursor": None})),
    "pages-change": quiet(
        "The second listing is cut into other pages", only_from(2, turned("tools"), in_pages(5, 1))
    ),
    # The frame
    "frame": quiet(
        "What is said of a list as a whole is other",
        put("envelope", {"ttlMs": 86400000, "cacheScope": "public"}),
        era="modern",
    ),
    "frame-of-nobody": quiet(
        "A list has members of its own",
        put("envelope", {"_meta": {"served-by": "node 7"}, "ttlMs": 1, "total": 6}),
        era="legacy",
    ),
    "version": quiet(
        "The server's version is another",
        put("server/version", "4.2-rc1\x1b[2J\u202e"),
        says=("4.2-rc1",),
        same_bytes=False,
    ),
    "title-of-the-server": quiet("The server gets a title", put("server/title", "The harbour")),
    "promise-to-tell": quiet(
        "The server tells when its list changes", put("capabilities/tools", {"listChanged": True})
    ),
    "later-era": quiet(
        "A server of the older era speaks the newer one only",
        era="legacy",
        era_later="modern",
        same_bytes=False,
    ),
    "earlier-era": quiet(
        "A server of the newer era speaks the older one only",
        era="modern",
        era_later="legacy",
        same_bytes=False,
    ),
    # Noise
    "noise": quiet(
        "Lines that are nobody's answer stand before each list",
        ahead(says("loading the charts \x1b[2J")),
        ahead(says("{}\n[]\n\nnull")),
        ahead(says(b"\xff\xfe")),
    ),
    "foreign-answers": quiet(
        "Answers to nobody's request, and notifications, stand before each list",
        ahead(says(FOREIGN.replace("ID", "ID-"))),
        ahead(says(NOTIFICATION)),
        ahead(says(PING)),
        era="legacy",
    ),
    "announced-for-nothing": quiet(
        "The server says that its list has changed, and it has not", ahead(says(LIST_CHANGED))
    ),
    "answered-twice": quiet(
        "Each list is answered once more, and empty, before the next",
        ahead(says('{"jsonrpc":"2.0","id":0,"result":{"tools":[],"prompts":[],"resources":[]}}')),
    ),
    # Twice
    "twin": quiet(
        "A tool is listed again on another page, as it is",
        add(close_lock(), to="tools"),
        in_pages(6, 1),
        says=("close_lock",),
    ),
    "twin-respelled": quiet(
        "A resource is listed twice, the second time in another spelling",
        respelled('"priority":0.5}}]', '"priority":0.5}},TWIN]', member="resources"),
        respelled(
            "TWIN",
            '{"name":"chart","uri":"chart\\u003atoday","mimeType":"image/png","description":'
            '"Depths of today.","annotations":{"priority":5e-1,"audience":["user"]}}',
            member="resources",
        ),
        says=("chart:today",),
    ),
}
