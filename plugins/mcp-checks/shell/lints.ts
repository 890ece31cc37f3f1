import type { CheckLint } from 'guard-gateway/lib/mcp-check'
import type { CheckOptions } from './judge.ts'
import { programName } from './program.ts'
import { type Allowed, allowsAny, entryText, isWhole, withoutEnd } from './rules.ts'
import { isSimpleProgram } from './simple-programs.ts'
import { isTransparent } from './wrapped-commands.ts'

/** What to warn about in the options of the check. */
export const lintsOf = ({ allow, deny }: Pick<CheckOptions, 'allow' | 'deny'>): readonly CheckLint[] => [
  ...(allow === undefined && deny !== undefined
    ? [
        {
          code: 'SHELL_DENY_ONLY',
          message: 'A list of denied commands is no boundary: programs that are not on it can do the same. Use allow.',
        },
      ]
    : []),
  ...open(allow).flatMap(entryLints),
]

/** Entries that allow further words. */
const open = (allow: readonly Allowed[] = []): readonly string[] =>
  allow.filter((entry) => !isWhole(entry)).map(entryText)

const entryLints = (entry: string): readonly CheckLint[] => {
  const words = withoutEnd(entry)
  const [program = ''] = words.split(/\s+/)
  if (words.includes('*'))
    return [
      {
        code: 'SHELL_ASTERISK_LITERAL',
        message: `"${entry}" is compared with commands as it stands: an asterisk within it stands for itself. Name each command, or end the entry with the word before; what follows is free.`,
      },
    ]
  if (allowsAny(entry))
    return [
      {
        code: 'SHELL_RUNNER_ALLOWED',
        message: `"${entry}" runs other commands, so that allowing it allows all of them. Allow the whole command.`,
      },
    ]
  if (isSimpleProgram(program) || isTransparent(programName(program))) return []
  return [
    {
      code: 'SHELL_ARGUMENTS_FREE',
      message: `"${entry}" may be given further words, and ${program} may run or write what they say, beyond the options known here. For these words alone, write { command: "${words}", end: true }.`,
    },
  ]
}
