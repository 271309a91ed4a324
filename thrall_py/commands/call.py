"""`thrall call` on the command line.

Each server takes a while to start, so it is started as soon as nothing can be refused any more,
and what speaks to it and reads its answer is loaded meanwhile.
"""

import functools
import os
import sys
from typing import TYPE_CHECKING

import click

from thrall_py import errors, options
from thrall_py.commands import form, watching
from thrall_py.commands.invocation import Invocation, say
from thrall_py.errors import InputError, UsageError
from thrall_py.options import AnswerOptions, ServerOptions, WatchOptions
from thrall_py.transport import stdio
from thrall_py.verbs import arguments
from thrall_py.verbs.connect import ConnectionOptions, PreparedServer, prepare, started
from thrall_py.visible import visible

if TYPE_CHECKING:  # as in verbs.connect
    from thrall_py.commands.pinned import Pinned
    from thrall_py.output.render import Rendered
    from thrall_py.protocol.user import User

_READING = (
    "reading the arguments from the terminal, a JSON object; end with ^D (or give '{}' for none)"
)
_NONE_WANTED = "it takes no arguments: type {} and ^D (or give '{}' on the command line)"
_WORDS = "thrall_py.commands.call.words"  # of the command line, in click's notes of one run


class _Command(click.Command):
    """A verb whose help is that of its tool, once a catalog and a tool of it are given."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:  # type: ignore[explicit-override]  # @override is of 3.12
        ctx.meta[_WORDS] = list(args)
        return super().parse_args(ctx, args)

    def get_help(self, ctx: click.Context) -> str:  # type: ignore[explicit-override]  # @override is of 3.12
        # The option is looked at before the others: nothing else is known yet.
        all_of_it = self.make_context(
            ctx.info_name, ctx.meta[_WORDS], parent=ctx.parent, resilient_parsing=True
        )
        catalog, tool = (all_of_it.params[name] for name in ("catalog", "tool"))
        if catalog is None or tool is None:
            return super().get_help(ctx)
        from thrall_py.commands import pinned

        ctx.obj.subject = tool
        page, encoding = pinned.help_page(catalog, tool), sys.stdout.encoding
        return page.encode(encoding, "backslashreplace").decode(encoding)


@click.command(cls=_Command, short_help="Call one tool of a server.")
@click.argument("tool")
@click.argument("items", nargs=-1, metavar="[ITEM]...")
@click.option("--catalog", metavar="CATALOG", help="Call the pinned tool, if it is as pinned.")
@click.option("--unverified", is_flag=True, help="Call it even if it is not as pinned.")
@click.option(
    "--validate",
    is_flag=True,
    help="Check arguments (needs thrall-py[validate]).",
)
@click.option("--json", is_flag=True, help="Print the whole result, verbatim.")
@click.option("--raw", is_flag=True, help="Print the one part that is not text as it is.")
@click.option("--save", metavar="DIR", help="Write parts that are not text to files in DIR.")
@click.option("--force", is_flag=True, help="Let --save write over files.")
@options.answer_options
@options.server_options
@options.connection
@options.watching
@click.pass_obj
def call(  # noqa: PLR0913 - one for each option of its own
    invocation: Invocation,
    *,
    tool: str,
    items: tuple[str, ...],
    catalog: str | None,
    unverified: bool,
    validate: bool,
    json: bool,
    raw: bool,
    save: str | None,
    force: bool,
    answer_options: AnswerOptions,
    server_options: ServerOptions,
    connection: ConnectionOptions,
    watch: WatchOptions,
) -> int:
    """Call TOOL once, with JSON on stdin or ITEMs ('{}' for none); answer on stdout.

    \b
    thrall call TOOL [ITEM]... -- SERVER [ARG]...
    thrall call TOOL [ITEM]... --url URL
    thrall call TOOL [ITEM]... --catalog CATALOG
    ITEM is key=text, key:=JSON, key=@file (text) or key:=@file (JSON);
    a.b=text is for a member of an object, a[]=text for one more item of a list.
    TOOL's arguments: --catalog C --help, or thrall pin C --dry-run -- SERVER
    """  # noqa: D301 - click's mark against wrapping
    invocation.subject = tool
    files = [catalog, answer_options.answers, server_options.header_file]
    if items:
        from thrall_py.verbs.items import files_of

        files += files_of(items)
    connection = watching.begin(invocation, watch, connection, tool, files=files)
    spec = None if catalog else server_options.spec(invocation.server)
    if catalog is not None:
        options.refuse_two_servers(invocation.server, server_options)
    elif unverified or validate:
        raise UsageError("--unverified and --validate are about a pin: they need --catalog")
    if not items and os.isatty(0):
        invocation.note(_reading(tool, catalog), tool)
    given = None
    if items:
        from thrall_py.verbs.items import join, parse

        given = parse(items)
        text = join(given)
    else:
        text = arguments.from_input(stdio.read())
    user = _user(invocation, answer_options)
    connection = connection._replace(user=user)
    invocation.need_stdout()
    output = form.OutputOptions(json, raw, save, force)
    form.check(output)
    name = arguments.decode_argument(tool)
    if spec is not None:
        prepared = prepare(spec, server_options.given, fill_in=False)
        rendered = _call_server(name, text, prepared, connection, invocation, output)
    else:
        assert catalog is not None, "or there would be a server"
        from thrall_py.commands import pinned

        # Read before signals are data: nothing is there to be torn down yet.
        # The pinned schema may be the old one, and what comes on stdin is the caller's own.
        looked_at = None if unverified else given
        found = pinned.find(catalog, name, text, looked_at, validate=validate)
        if found is None:
            return InputError.exit_status
        verify = not unverified
        rendered = _call_pinned(name, text, found, connection, invocation, output, verify=verify)
    for sentence in user.refusals if user else ():
        say(sentence, tool)
    for unused in user.unused if user else ():
        say(f"nothing asked for the answer {visible(unused)}", tool)
    return errors.ANSWER_IS_NO if rendered.is_error else errors.ANSWERED


def _call_server(  # noqa: PLR0913, PLR0917 - what to call, where, how, and who wants it
    name: str,
    text: str,
    prepared: PreparedServer,
    connection: ConnectionOptions,
    invocation: Invocation,
    output: form.OutputOptions,
) -> "Rendered":
    with invocation.ready() as interrupts, started(prepared, connection, interrupts) as server:
        from thrall_py.commands import answer
        from thrall_py.verbs.call import Call, call_server

        on_result = functools.partial(answer.give, invocation=invocation, wanted=output)
        return call_server(Call(name, text), server, connection, interrupts, on_result)


def _call_pinned(  # noqa: PLR0913, PLR0917 - as above
    name: str,
    text: str,
    found: "Pinned",
    connection: ConnectionOptions,
    invocation: Invocation,
    output: form.OutputOptions,
    *,
    verify: bool,
) -> "Rendered":
    from thrall_py.commands import pinned

    with (
        invocation.ready() as interrupts,
        pinned.started(found, connection, interrupts) as server,
    ):
        from thrall_py.commands import answer
        from thrall_py.verbs.call import Call
        from thrall_py.verbs.pinned_call import call_pinned

        on_result = functools.partial(answer.give, invocation=invocation, wanted=output)
        callbacks = pinned.callbacks(invocation, found, on_result, verify=verify)
        call = Call(name, text)
        return call_pinned(call, found.entry, server, connection, interrupts, callbacks=callbacks)


def _reading(tool: str, catalog: str | None) -> str:
    """Say what is waited for, before somebody wonders what to type."""
    if catalog is None:
        return _READING
    from thrall_py.commands import pinned

    return _NONE_WANTED if pinned.takes_no_arguments(catalog, tool) else _READING


def _user(invocation: Invocation, given: AnswerOptions) -> "User | None":
    """Find who answers what the server asks: options, a person at the terminal, or nobody."""
    if given != options.NO_ANSWERS:
        from thrall_py.verbs import answers

        return answers.Script(
            answers.collect(
                given.answer,
                given.answers,
                accept_defaults=given.accept_defaults,
                decline=given.decline,
            )
        )
    # Arguments that were typed, up to ^D, leave the terminal there to be read on.
    if os.isatty(0) and os.isatty(2):
        from thrall_py.commands.asking import Person

        return Person(invocation.subject, invocation.interrupts)
    return None
