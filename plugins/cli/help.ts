import type { Command } from '#lib/command'
import { displayWidth, wrapLine } from '#lib/terminal'
import { globalFlags, ownFlags } from './flags.ts'

/** What a help text is about; nothing named is everything. */
export interface HelpSubject {
  readonly topic?: Command
  /** The first word of several commands. */
  readonly group?: string
}

/** The widest that help becomes: longer lines are hard to read. */
export const HELP_WIDTH = 80
const MIN_WIDTH = 30

/** What `guard --help` prints, or `guard <command> --help`, on a terminal of so many columns. */
export const helpText = (
  commands: readonly Command[],
  { topic, group }: HelpSubject = {},
  columns: number = HELP_WIDTH,
): string => {
  const width = Math.min(Math.max(columns, MIN_WIDTH), HELP_WIDTH)
  const about = group === undefined ? overview(commands, width) : members(commands, group, width)
  const text = topic === undefined ? about : details(topic, width)
  return `${text.join('\n')}\n`
}

const members = (commands: readonly Command[], group: string, width: number): string[] => {
  const found = commands.filter(({ id }) => id.startsWith(`${group} `))
  return [
    ...wrapLine(`Usage: guard ${group} <command> [options]`, width),
    '',
    ...pairs(
      found.map((command) => [usage(command), command.summary]),
      width,
    ),
    '',
    ...wrapLine(`"guard ${group} <command> --help" shows what a command takes.`, width, 0),
  ]
}

const overview = (commands: readonly Command[], width: number): string[] => [
  ...wrapLine('guard: a local gateway that watches the model requests and tool calls of coding agents', width, 0),
  '',
  'Usage: guard <command> [options]',
  '',
  ...chapters(commands, width),
  'Options of every command',
  ...pairs(Object.entries(globalFlags), width),
  '',
  ...wrapLine('"guard <command> --help" shows what a command takes, with examples.', width, 0),
]

/** Commands by heading, by their first word; the last heading takes the rest. */
const headings: readonly (readonly [title: string, words: readonly string[]])[] = [
  ['Start', ['gateway', 'run', 'setup', 'service', 'doctor', 'status']],
  ['Try', ['playground']],
  ['Look', ['report', 'prices', 'replay', 'sessions', 'agents', 'policy', 'notify']],
  ['Tools (MCP)', ['mcp']],
  ['More', []],
]

const OVERVIEW_LEFT = 34

const chapters = (commands: readonly Command[], width: number): string[] => {
  const named = new Set(headings.flatMap(([, words]) => words))
  return headings.flatMap(([title, words]) => {
    const found = commands
      .filter(({ id }) => (words.length > 0 ? words.includes(firstWord(id)) : !named.has(firstWord(id))))
      .sort((a, b) => words.indexOf(firstWord(a.id)) - words.indexOf(firstWord(b.id)))
    const rows = found.map((command) => [usage(command), command.summary] as const)
    return found.length === 0 ? [] : [title, ...pairs(rows, width, OVERVIEW_LEFT), '']
  })
}

const firstWord = (id: string): string => id.split(' ', 1)[0] ?? ''

const details = (command: Command, width: number): string[] => {
  const options = Object.entries(ownFlags(command))
  const examples = [command.example ?? []].flat()
  return [
    ...wrapLine(sentence(command.summary), width, 0),
    '',
    ...wrapLine(`Usage: guard ${usageWith(options.length > 0 ? ['[options]'] : [], command)}`, width),
    '',
    ...(options.length > 0 ? ['Options', ...pairs(options, width), ''] : []),
    ...(examples.length === 0
      ? []
      : [examples.length === 1 ? 'Example' : 'Examples', ...examples.flatMap((line) => commandLines(line, width)), '']),
    ...wrapLine(`For every command: ${spellings().join(', ')}. "guard --help" says what they do.`, width, 0),
  ]
}

/** `-q` and `--quiet` are one. */
const spellings = (): readonly string[] =>
  Object.keys(globalFlags).map((spelled) => /--[a-z-]+/.exec(spelled)?.[0] ?? spelled)

/** A command line that is too long goes on in the next line, as a shell takes it. */
const commandLines = (line: string, width: number): readonly string[] => {
  const lines = wrapLine(`  ${line}`, width - 2, 6)
  return lines.map((text, at) => (at < lines.length - 1 ? `${text} \\` : text))
}

const usage = (command: Command): string => (command.args === undefined ? command.id : `${command.id} ${command.args}`)

/** Options stand in front of what begins a command line of its own, which they would else be part of. */
const usageWith = (options: readonly string[], { id, args }: Command): string => {
  const own = args === undefined ? [] : [args]
  return [id, ...(args?.startsWith('[--') === true ? [...options, ...own] : [...own, ...options])].join(' ')
}

const MIN_LEFT = 22
const MAX_LEFT = 34
/** Narrower than this, the right column stands below the left one. */
const MIN_RIGHT = 24

/** Two columns, the right one broken between words; `left` columns for the left one, or as many as its widest cell takes. */
const pairs = (
  rows: readonly (readonly [left: string, right: string])[],
  width: number,
  left: number = Math.min(MAX_LEFT, Math.max(MIN_LEFT, ...rows.map(([text]) => displayWidth(text)))),
): string[] => {
  const indent = width - left - 3 < MIN_RIGHT ? 6 : left + 3
  return rows.flatMap(([name, meaning]) => {
    const lines = wrapLine(meaning, width - indent, 0)
    const begins = `  ${name}`
    const fits = begins.length < indent
    const blanks = ' '.repeat(indent)
    return fits
      ? [`${begins.padEnd(indent)}${lines[0] ?? ''}`, ...lines.slice(1).map((text) => blanks + text)]
      : [...wrapLine(begins, width, 4), ...lines.map((text) => blanks + text)]
  })
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
