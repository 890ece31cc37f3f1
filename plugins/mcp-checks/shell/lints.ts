import type { CheckLint } from 'guard-gateway/lib/mcp-check'
import type { CheckOptions } from './judge.ts'
import { programName } from './program.ts'
import { type Allowed, allowsAny, entryText, isWhole, withoutEnd } from './rules.ts'
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

/** Programs without hidden effects. Their options are all known here. */
const PLAIN = new Set(
  `ls dir vdir cat tac nl head tail wc cut tr sort uniq comm paste join fold fmt expand unexpand column rev grep egrep fgrep rg ag ack
  diff cmp echo printf pwd cd whoami id groups who w date cal uname hostname arch nproc uptime which type true false test [ : basename
  dirname realpath readlink stat file du df free ps pgrep tree find sed awk jq xxd od hexdump strings md5sum sha1sum sha224sum sha256sum
  sha384sum sha512sum shasum cksum b2sum base64 base32 seq sleep mkdir rmdir touch cp mv rm ln chmod chown git curl wget man lsof
  printenv locale tty getconf sync zcat zgrep bzcat xzcat`.split(/\s+/),
)

/** True if further words of a program have no hidden effects. */
const isSimpleProgram = (word: string): boolean => PLAIN.has(programName(word))
