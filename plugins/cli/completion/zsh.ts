import { posixScript } from './posix.ts'
import type { CompletedCommand } from './words.ts'

/** The completion script of zsh. */
export const zshScript = (commands: readonly CompletedCommand[]): string =>
  posixScript(commands, {
    head: ['#compdef guard', '# Put this line into ~/.zshrc, below compinit: source <(guard completion zsh)'],
    words: 'words',
    at: 'CURRENT',
    first: 2,
    offer: [`compadd -- \${=1}`],
    files: '_files',
    // from a folder of $fpath the file itself is the function
    tail: [`if [[ \${funcstack[1]} == _guard ]]; then _guard "$@"; else compdef _guard guard; fi`],
  })
