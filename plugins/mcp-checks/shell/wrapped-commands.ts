import { HARMLESS_ASSIGNMENT } from './wrappers.ts'

type Words = readonly (string | undefined)[]

/** Words of a wrapper before the wrapped command: flags, options with a value, plain words. */
interface Before {
  readonly flags: string
  readonly valued: string
  readonly operand?: RegExp
}

const BEFORE: Readonly<Record<string, Before>> = {
  env: { flags: 'i0v', valued: 'uC', operand: /^[A-Za-z_][A-Za-z0-9_]*=/ },
  nohup: { flags: '', valued: '' },
  setsid: { flags: 'cfw', valued: '' },
  time: { flags: 'pvahl', valued: 'f' },
  nice: { flags: '0123456789', valued: 'n' },
  ionice: { flags: 't', valued: 'cn' },
  stdbuf: { flags: '', valued: 'ioe' },
  timeout: { flags: 'v', valued: 'ks', operand: /^[0-9.]+[smhd]?$/ },
  xargs: { flags: '0rtxp', valued: 'adEILnPs' },
}

/** True if a program runs the rest of its words, and the start of that command is known. */
export const isTransparent = (program: string): boolean => Object.hasOwn(BEFORE, program)

/** The wrapped command. Empty if there is none. Undefined if unknown. */
export const wrappedCommand = (program: string, args: Words): Words | undefined => {
  let at = 0
  for (let length = before(program, args, at); length !== 0; length = before(program, args, at)) {
    if (length === undefined) return undefined
    at += length
  }
  const inner = args.slice(at)
  return program === 'xargs' && inner.length > 0 ? xargsWords(inner, marksOf(args.slice(0, at))) : inner
}

/** The placeholders of xargs, which its input replaces. */
const marksOf = (options: Words): readonly string[] =>
  options.flatMap((word, at) => {
    const found = /^(?:-[0rtxp]*([Ii])|--r[a-z]*=)(.*)$/s.exec(word ?? '')
    if (found === null) return []
    const [, letter, attached] = found
    return [attached || (letter === 'I' ? options[at + 1] : undefined) || '{}']
  })

/** More placeholders than this count as everywhere. */
const MAX_MARKS = 4

/** xargs input replaces the placeholders, or follows the last word. */
const xargsWords = (inner: Words, marks: readonly string[]): Words => [
  ...inner.map((word) =>
    marks.length > MAX_MARKS || marks.some((mark) => word?.includes(mark) === true) ? undefined : word,
  ),
  undefined,
]

/** Number of words at an offset that come before the command. */
const before = (program: string, args: Words, at: number): number | undefined => {
  const word = args[at]
  if (word === undefined) return at < args.length ? undefined : 0
  const known = BEFORE[program]
  if (word.startsWith('-')) return optionLength(word, known)
  if (known?.operand?.test(word) !== true) return 0
  return word.includes('=') && !HARMLESS_ASSIGNMENT.test(word) ? undefined : 1
}

/** Number of words of an option. Undefined for an unknown option, because its value could be mistaken for the command. */
const optionLength = (word: string, { flags, valued }: Before = { flags: '', valued: '' }): number | undefined => {
  if (word.startsWith('--'))
    return word === '--' || /^--(?!s(?:p|=)|o)[a-z-]+=/.test(word) || PLAIN.has(word) ? 1 : undefined
  const [letter = '', ...rest] = word.slice(1)
  if (valued.includes(letter) && letter !== '') return rest.length === 0 ? 2 : 1
  return [letter, ...rest].every((one) => one !== '' && flags.includes(one)) ? 1 : undefined
}

/** Long options without a value. */
const PLAIN = new Set([
  ...['--null', '--no-run-if-empty', '--verbose', '--exit', '--ignore-environment', '--foreground'],
  ...['--preserve-status', '--portability', '--fork', '--wait', '--ctty'],
])

const RUNNING = new Set(['-exec', '-execdir'])

/** A `+` ends the command only directly after `{}`. */
const endAfter = (args: Words, from: number): number => {
  for (let at = from + 1; at < args.length; at++)
    if (args[at] === ';' || (args[at] === '+' && args[at - 1] === '{}')) return at
  return -1
}

/** The commands that `find` runs. Undefined if a found file is the program, or if a command has no end. */
export const commandsOfFind = (args: Words): readonly Words[] | undefined => {
  const commands: Words[] = []
  for (let at = 0; at < args.length; at++) {
    if (!RUNNING.has(args[at] ?? '')) continue
    const end = endAfter(args, at)
    const command = args.slice(at + 1, end)
    if (end === -1 || command[0]?.includes('{}') !== false) return undefined
    commands.push(command.map((word) => (word?.includes('{}') === true ? undefined : word)))
    at = end
  }
  return commands
}

/** The words of `find` without `-exec` and `-execdir`. */
export const searching = (args: Words): Words => args.filter((word) => !RUNNING.has(word ?? ''))
