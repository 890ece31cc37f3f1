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
    ask: [
      'local line',
      'COMPREPLY=()',
      `while IFS= read -r line; do COMPREPLY+=("\${line%%$'\\t'*}"); done < <(`,
      `  "\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null`,
      ')',
    ],
    // where nothing is offered, bash itself completes files
    files: 'COMPREPLY=()',
    tail: ['complete -o default -F _guard guard'],
  })
