import { posixScript } from './posix.ts'
import type { CompletedCommand } from './words.ts'

/** The completion script of bash. */
export const bashScript = (commands: readonly CompletedCommand[]): string =>
  posixScript(commands, {
    head: ['# Put this line into ~/.bashrc: eval "$(guard completion bash)"'],
    words: 'COMP_WORDS',
    at: 'COMP_CWORD',
    first: 1,
    offer: [`COMPREPLY=($(compgen -W "$1" -- "\${COMP_WORDS[COMP_CWORD]}"))`],
    // where nothing is offered, bash itself completes files
    files: 'COMPREPLY=()',
    tail: ['complete -o default -F _guard guard'],
  })
