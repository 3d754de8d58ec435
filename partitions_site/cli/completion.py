"""`partita completion bash`: a script to source, made from what the commands take."""

from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Iterator
from functools import partial

from partitions_site.cli.replies import Reply

Tree = dict[str, list[str]]
"""What may follow, by the commands before it: `held show` → its options."""

BASH = """\
# Completes the words of partita in bash: source <(partita completion bash)
_partita() {{
  local word path="" words=""
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case " {paths} " in *" $path/$word "*) path="$path/$word" ;; esac
  done
  case "$path" in
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _partita partita ./partita
"""

ZSH = """\
#compdef partita ./partita
# Completes the words of partita in zsh: source <(partita completion zsh)
_partita() {{
  local word route="" options=""
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case " {paths} " in *" $route/$word "*) route="$route/$word" ;; esac
  done
  case "$route" in
{cases}
  esac
  compadd -- ${{=options}}
}}
compdef _partita partita ./partita
"""


def add_arguments(parser: ArgumentParser, whole: ArgumentParser) -> None:
    """`whole` is the parser of all commands."""
    parser.add_argument("shell", choices=["bash", "zsh"])
    parser.set_defaults(do=partial(_do, whole))


def tree(parser: ArgumentParser, path: str = "") -> Tree:
    """What may follow each command."""
    below: Tree = {}
    for name, each in _deeds(parser):
        below |= tree(each, f"{path}/{name}")
    words = [option for action in parser._actions for option in action.option_strings if option[1] == "-"]
    return {path: [*(name for name, _ in _deeds(parser)), *words], **below}


def _do(whole: ArgumentParser, given: Namespace) -> Reply:
    found = tree(whole)
    script, name = (BASH, "words") if given.shell == "bash" else (ZSH, "options")
    cases = "\n".join(f'    "{path}") {name}="{" ".join(words)}" ;;' for path, words in found.items())
    paths = " ".join(path for path in found if path)
    text = script.format(paths=paths, cases=cases)
    return Reply({"shell": given.shell, "script": text}, text.splitlines())


def _deeds(parser: ArgumentParser) -> Iterator[tuple[str, ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            yield from action.choices.items()
