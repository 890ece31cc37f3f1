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
    ask: [
      'local -a values meanings',
      `local line`,
      `while IFS= read -r line; do`,
      `  values+=("\${line%%$'\\t'*}")`,
      `  meanings+=("\${line//$'\\t'/  }")`,
      `done < <("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)`,
      `compadd -l -d meanings -a values`,
    ],
    files: '_files',
    // from a folder of $fpath the file itself is the function
    tail: [`if [[ \${funcstack[1]} == _guard ]]; then _guard "$@"; else compdef _guard guard; fi`],
  })
