import { type CheckFinding, type CheckLint, mcpCheck, plainSchema } from 'guard-gateway/core'
import { objectionsTo, pointed } from 'guard-gateway/lib/check-arguments'
import { loadGrammar, outline } from './shell/grammar.ts'
import { withoutFirstBackslash } from './shell/heredoc.ts'
import { isTransparent } from './shell/inner.ts'
import { type Command, lex, type Redirect } from './shell/lex.ts'
import { isPairedSo } from './shell/paired.ts'
import { isPlain } from './shell/plain.ts'
import { printedBy } from './shell/printed.ts'
import { programName } from './shell/program.ts'
import { type Allowed, allowsAny, type CommandRules, entryText, isWhole, rulesOf, withoutEnd } from './shell/rules.ts'
import { readersOf, readsCommands } from './shell/texts.ts'
import { Unreadable, type Word } from './shell/word.ts'

const MAX_LENGTH = 65_536

interface Options {
  args: string[]
  allow?: Allowed[]
  deny?: string[]
  redirects?: boolean
  variables?: string[]
  optional?: boolean
}

const schema = plainSchema<Options>({
  type: 'object',
  additionalProperties: false,
  required: ['args'],
  anyOf: [{ required: ['allow'] }, { required: ['deny'] }],
  properties: {
    args: { $ref: '#/$defs/pointers' },
    allow: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: {
        type: ['string', 'object'],
        minLength: 1,
        additionalProperties: false,
        required: ['command'],
        properties: {
          command: { type: 'string', minLength: 1 },
          end: { type: 'boolean', default: false, description: 'true: no word may follow' },
        },
      },
      description:
        'argv prefixes, compared word by word; an asterisk may follow. { command, end: true } is a whole command, to which no word may be added',
    },
    deny: {
      $ref: '#/$defs/strings',
      description: 'beginnings of commands, options in any order; an asterisk within a word stands for any characters',
    },
    redirects: { type: 'boolean', default: false },
    variables: {
      type: 'array',
      items: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
      uniqueItems: true,
      default: [],
    },
    optional: { $ref: '#/$defs/optional' },
  },
})

/** Rules by the options they were made of. */
const compiled = new WeakMap<Options, CommandRules>()

const compiledRules = (options: Options): CommandRules => {
  const known = compiled.get(options)
  if (known !== undefined) return known
  const made = rulesOf(options)
  compiled.set(options, made)
  return made
}

/** Commands start with allowed words, each of them, wherever it stands in a text; what is not known before it runs is refused. */
export const shell = mcpCheck({
  id: 'shell',
  schema,
  prepare: loadGrammar,

  lint: ({ allow, deny }) => [
    ...(allow === undefined && deny !== undefined
      ? [
          {
            code: 'SHELL_DENY_ONLY',
            message:
              'A list of denied commands is no boundary: programs that are not on it can do the same. Use allow.',
          },
        ]
      : []),
    ...open(allow).flatMap(entryLints),
  ],

  find(args, options, { cwd }): readonly CheckFinding[] {
    const rules = compiledRules(options)
    const values = options.args.flatMap((pointer) => pointed(args, pointer))
    // a server whose folder is not known may run on another machine
    const mayBeOld = cwd === undefined || process.platform === 'darwin'
    return objectionsTo(values, ({ value }) => objection(value, options, rules, mayBeOld))
  },
})

/** Entries behind which further words may stand. */
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
  if (isPlain(program) || isTransparent(programName(program))) return []
  return [
    {
      code: 'SHELL_ARGUMENTS_FREE',
      message: `"${entry}" may be given further words, and ${program} may run or write what they say, beyond the options known here. For these words alone, write { command: "${words}", end: true }.`,
    },
  ]
}

type Objection = Omit<CheckFinding, 'pointer'>

const certainly = (reason: string | undefined): Objection | undefined =>
  reason === undefined ? undefined : { reason, certain: true }

const objection = (value: unknown, options: Options, rules: CommandRules, mayBeOld: boolean): Objection | undefined => {
  if (value === undefined) return options.optional === true ? undefined : certainly('is missing')
  if (typeof value === 'string') return ofText(value, options, rules, mayBeOld)
  if (!Array.isArray(value)) return certainly('must be a string or a list of strings')
  return certainly(ofWords(value, rules))
}

const CONTROL = /[\p{Cc}--[\t\n]]/v

/** A list of words that no shell reads. */
const ofWords = (words: readonly unknown[], rules: CommandRules): string | undefined => {
  if (words.length === 0) return 'holds no command'
  if (!words.every((word) => typeof word === 'string')) return 'must be a string or a list of strings'
  return words.some((word) => CONTROL.test(word)) ? 'holds a control character' : rules(words)
}

const ofText = (text: string, options: Options, rules: CommandRules, mayBeOld: boolean): Objection | undefined => {
  if (CONTROL.test(text)) return certainly('holds a control character')
  if (text.length > MAX_LENGTH) return { reason: `is over ${MAX_LENGTH} characters long`, certain: false }
  const commands = read(text, mayBeOld)
  if (typeof commands === 'string') return { reason: commands, certain: false }
  if (!commands.some(({ words }) => words.length > 0)) return certainly('holds no command')
  const readers = readersOf(text.includes('|') ? commands.flatMap(printedBy) : [])
  for (const command of commands) {
    const reason = ofCommand(command, readers, options, rules)
    if (reason !== undefined) return certainly(reason)
  }
  return undefined
}

/** Commands in which two readings agree: that of Bash's grammar and that of its splitting into words. Old is Bash 3.2, the `sh` of macOS. */
const read = (text: string, mayBeOld: boolean): readonly Command[] | string => {
  try {
    const { commands, substitutions } = lex(text)
    if (mayBeOld && !isPairedSo(text, substitutions))
      return 'holds a substitution that Bash 3.2 (macOS) ends elsewhere than later versions do'
    return agrees(commands, text) ? commands : 'is not wholly known before it runs'
  } catch (error) {
    if (error instanceof Unreadable) return error.message
    throw error
  }
}

/** The grammar passes over a dash alone before a here-document. */
const isLostDash = ({ start, end }: Word, text: string): boolean =>
  end - start === 1 && text[start] === '-' && /^[ \t]+<</.test(text.slice(end, end + 64))

const agrees = (commands: readonly Command[], text: string): boolean => {
  const seen = outline(withoutFirstBackslash(text))
  if (seen === undefined) return false
  const words = commands
    .flatMap(({ words, redirects }) => [...words, ...redirects.map(({ target }) => target)])
    .filter((word) => !isLostDash(word, text))
    .sort((left, right) => left.start - right.start)
  const starts = commands
    .flatMap(({ words: [first] }) => (first === undefined ? [] : [first.start]))
    .sort((left, right) => left - right)
  return (
    words.length === seen.words.length &&
    words.every(({ start, end }, index) => seen.words[index] === `${start}:${end}`) &&
    starts.length === seen.commands.length &&
    starts.every((start, index) => seen.commands[index] === start)
  )
}

const ofCommand = (
  { words, redirects, inputs }: Command,
  readers: ReadonlySet<string>,
  options: Options,
  rules: CommandRules,
): string | undefined => {
  const variable = words.flatMap((word) => word.variables).find((name) => options.variables?.includes(name) !== true)
  if (variable !== undefined) return `uses the variable ${variable.slice(0, 60)}, which is not allowed`
  for (const redirect of redirects) {
    const reason = ofRedirect(redirect, options.redirects === true)
    if (reason !== undefined) return reason
  }
  const reader = words.find(({ literal = '' }) => {
    const program = programName(literal)
    return readers.has(program) || inputs.some((text) => readsCommands(program, text))
  })
  if (reader?.literal !== undefined) return `lets ${reader.literal.slice(0, 60)} run commands that it reads`
  // a redirection alone makes or empties a file
  return words.length === 0 ? undefined : ofReadings(words, rules)
}

/** What is not known before it runs may be anything, and so nothing at all, too. */
const ofReadings = (words: readonly Word[], rules: CommandRules): string | undefined => {
  const reason = rules(words.map(({ literal }) => literal))
  if (reason !== undefined || words.every(({ literal }) => literal !== undefined)) return reason
  return rules(words.map(({ text }) => text))
}

const ofRedirect = ({ operator, target: { literal } }: Redirect, allowed: boolean): string | undefined => {
  if (/^[<>]&$/.test(operator) && /^[012]$/.test(literal ?? '')) return undefined
  // what is thrown away or shown changes nothing
  if (/^\/dev\/(?:null|stdout|stderr)$/.test(literal ?? '')) return undefined
  if (!allowed) return 'redirects to or from a file'
  if (literal === undefined) return 'redirects to a file that is not known before it runs'
  return /^\/dev\/(?:tcp|udp)\//.test(literal) ? 'redirects to the network' : undefined
}
