import { word } from '../author.ts'
import { type Protocol, protocols, thought, words } from '../words.ts'
import { rounds, variants, type WorkKinds } from './work.ts'

/** Different commands. Every third prints nothing. */
const commands =
  (protocol: Protocol): WorkKinds[string] =>
  (author) =>
    rounds([
      (round) => protocol(thought(author), `cat src/${word(round + 1)}.ts`, author.lines().join('\n')),
      (round) => protocol(thought(author), `grep -rn ${word(round + 1)} src`, author.lines(3).join('\n')),
      (round) => protocol(thought(author), `sed -i s/${word(round + 1)}/x/ a.ts`, ''),
    ])

/** Work of agents that call no tools. */
export const texts: WorkKinds = {
  ...variants('text', protocols, commands),
  continue_writing: (author) => () => words(author.lines().join('\n'), 'Continue.'),
}
