"""`thrall completion` on the command line: a shell's script, and what it asks. Starts no server."""

import os
from collections.abc import Iterator, Sequence

import click

from thrall_py import errors
from thrall_py.commands.candidates import CATALOGS, DIRECTORIES, FILES, Answer, Candidate, Paths
from thrall_py.commands.invocation import Invocation
from thrall_py.errors import UsageError
from thrall_py.transport import stdio

_SCRIPTS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "shell")
_PATHS = {"CATALOG": CATALOGS, "CATALOG...": CATALOGS, "DIR": DIRECTORIES, "FILE": FILES}


@click.command(short_help="Print what completes command lines in a shell.")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.argument("place", type=click.IntRange(0), required=False)
@click.pass_context
def completion(context: click.Context, *, shell: str, place: int | None) -> int:
    """Print the completion script of SHELL: bash, zsh or fish.

    \b
    bash: source <(thrall completion bash)     in ~/.bashrc
    zsh:  source <(thrall completion zsh)      in ~/.zshrc, behind compinit
    fish: thrall completion fish | source      in ~/.config/fish/config.fish
    PLACE and the words of a command line behind -- are what the script asks.
    """  # noqa: D301 - click's mark against wrapping
    invocation: Invocation = context.obj
    invocation.need_stdout()
    if (place is None) != (invocation.server is None):
        raise UsageError("PLACE and the words behind -- belong together: the script gives both")
    if place is None or invocation.server is None:
        with open(os.path.join(_SCRIPTS, f"thrall.{shell}"), "rb") as script:
            text = script.read()
    else:
        found = _answer(context.find_root(), shell, invocation.server, place)
        text = "".join(f"{line}\n" for line in found).encode("utf-8", "surrogateescape")
    with invocation.interrupts as interrupts:
        stdio.write([text], interrupts)
    return errors.ANSWERED


def _answer(root: click.Context, shell: str, words: Sequence[str], place: int) -> Iterator[str]:
    """Say what may stand in the place of a word, in the words of the shell's script."""
    from thrall_py.commands import candidates, shells

    plain = [shells.unquote(word) if shell == shells.BASH else (word, "") for word in words]
    before, after = ([word for word, _ in part] for part in (plain[:place], plain[place + 1 :]))
    word, quote = plain[place] if place < len(plain) else ("", "")
    answer = _find(root, before, word, after)
    if not isinstance(answer, Paths):
        answer = candidates.choose(answer, word)
    return shells.lines(shell, answer, word, quote)


def _find(root: click.Context, before: list[str], word: str, after: list[str]) -> Answer:
    """Find what may stand behind the words `before`, whether it begins as `word` does or not."""
    group = root.command
    assert isinstance(group, click.Group), "the root of the program"
    if not before:
        commands = {name: group.get_command(root, name) for name in group.list_commands(root)}
        verbs = (Candidate(name, each.short_help or "") for name, each in commands.items() if each)
        return [*_options(group, root)] if word.startswith("-") else [*verbs]
    command = group.get_command(root, before[0])
    if command is None:
        return []
    option = _option(command, before[-1]) if len(before) > 1 else None
    if option is not None:
        return _values(option, "")
    context = _parse(root, command, before[1:])
    if word.startswith("-"):
        name, equals, _ = word.partition("=")
        option = _option(command, name) if equals else None
        return _values(option, f"{name}=") if option else [*_options(command, context)]
    argument = _next_argument(command, context)
    if argument is None:
        return []
    all_of_it = _parse(root, command, before[1:] + after)
    return _names(context, argument, all_of_it.params.get("catalog"), word)


def _parse(root: click.Context, command: click.Command, words: list[str]) -> click.Context:
    """Read an unfinished command line as far as it can be read."""
    return command.make_context(command.name, words, parent=root, resilient_parsing=True)


def _option(command: click.Command, name: str) -> click.Option | None:
    """The option of this name that takes a value."""
    options = (each for each in command.params if isinstance(each, click.Option))
    return next((each for each in options if name in each.opts and not each.is_flag), None)


def _options(command: click.Command, context: click.Context) -> Iterator[Candidate]:
    """The options that may be given, once more or for the first time."""
    for each in command.get_params(context):
        source = context.get_parameter_source(each.name or "")
        given = source is click.core.ParameterSource.COMMANDLINE
        if isinstance(each, click.Option) and (each.multiple or not given):
            yield from (Candidate(name, each.help or "") for name in each.opts)


def _values(parameter: click.Parameter, head: str) -> Answer:
    """What a parameter takes: one of its choices, or a path if its name on the page says so."""
    if isinstance(parameter.type, click.Choice):
        return [Candidate(f"{head}{choice}") for choice in parameter.type.choices]
    kind = _PATHS.get(parameter.metavar or (parameter.name or "").upper())
    return [] if kind is None else Paths(kind, head)


def _next_argument(command: click.Command, context: click.Context) -> click.Argument | None:
    """The argument that the next word is for, if it is no option."""
    arguments = (each for each in command.params if isinstance(each, click.Argument))
    given = context.params
    return next((each for each in arguments if each.nargs < 0 or given[each.name] is None), None)


def _names(
    context: click.Context, argument: click.Argument, catalog: str | None, word: str
) -> Answer:
    """Find what an argument may be, with the names of a catalog if there is one."""
    from thrall_py.catalog import outline
    from thrall_py.commands import candidates

    given = context.params
    path = os.path.expandvars(os.path.expanduser(catalog or ""))
    match argument.name:
        case "tool":
            return [*candidates.tools(outline.read(path).tools)]
        case "items":
            definition = outline.read(path).tools.get(given["tool"], {})
            return candidates.items(definition.get("inputSchema"), given["items"], word)
        case "name":
            return [*candidates.servers(outline.read(path).servers)]
        case "names" if given.get("update", True):
            return [*candidates.servers(outline.read(path).servers)]
        case _:
            return _values(argument, "")
