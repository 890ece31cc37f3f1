import { HARMLESS_ASSIGNMENT } from './assignments.ts'

type Words = readonly (string | undefined)[]

/** What a program that runs the rest of its own words takes before them: letters alone, letters with a value, plain words. */
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

/** Whether a program runs the rest of its words, and where they start can be told. */
export const isTransparent = (program: string): boolean => Object.hasOwn(BEFORE, program)

/** The command that such a program runs; empty if it runs none, undefined if that cannot be told. */
export const wrappedCommand = (program: string, args: Words): Words | undefined => {
  let at = 0
  for (let length = before(program, args, at); length !== 0; length = before(program, args, at)) {
    if (length === undefined) return undefined
    at += length
  }
  const inner = args.slice(at)
  return program === 'xargs' && inner.length > 0 ? xargsWords(inner, marksOf(args.slice(0, at))) : inner
}

/** Marks that options of xargs name; what is read is in their place. */
const marksOf = (options: Words): readonly string[] =>
  options.flatMap((word, at) => {
    const found = /^(?:-[0rtxp]*([Ii])|--r[a-z]*=)(.*)$/s.exec(word ?? '')
    if (found === null) return []
    const [, letter, attached] = found
    return [attached || (letter === 'I' ? options[at + 1] : undefined) || '{}']
  })

/** More than these may be anywhere. */
const MAX_MARKS = 4

/** What xargs reads is where its marks are, or follows the words that it is given. */
const xargsWords = (inner: Words, marks: readonly string[]): Words => [
  ...inner.map((word) =>
    marks.length > MAX_MARKS || marks.some((mark) => word?.includes(mark) === true) ? undefined : word,
  ),
  undefined,
]

/** How many words at an offset stand before the command. */
const before = (program: string, args: Words, at: number): number | undefined => {
  const word = args[at]
  if (word === undefined) return at < args.length ? undefined : 0
  const known = BEFORE[program]
  if (word.startsWith('-')) return optionLength(word, known)
  if (known?.operand?.test(word) !== true) return 0
  return word.includes('=') && !HARMLESS_ASSIGNMENT.test(word) ? undefined : 1
}

/** How many words an option takes; undefined for one that is not known, so that its value could be taken for the command. */
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

/** A plus ends a command after what stands for the files alone. */
const endAfter = (args: Words, from: number): number => {
  for (let at = from + 1; at < args.length; at++)
    if (args[at] === ';' || (args[at] === '+' && args[at - 1] === '{}')) return at
  return -1
}

/** The commands that `find` runs for what it finds. Undefined if one of them is what was found, or does not end. */
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

/** `find` without what it runs. */
export const searching = (args: Words): Words => args.filter((word) => !RUNNING.has(word ?? ''))
