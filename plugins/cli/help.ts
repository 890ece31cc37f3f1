import type { Command } from 'guard-gateway/lib/command'
import { globalFlags } from './flags.ts'

/** What a help text is about; nothing named is everything. */
export interface HelpSubject {
  readonly topic?: Command
  /** The first word of several commands. */
  readonly group?: string
}

/** What `guard --help` prints, or `guard <command> --help`. */
export const helpText = (commands: readonly Command[], { topic, group }: HelpSubject = {}): string => {
  const about = group === undefined ? overview(commands) : members(commands, group)
  const text = topic === undefined ? about : details(topic)
  return `${text.join('\n')}\n`
}

const members = (commands: readonly Command[], group: string): string[] => {
  const found = commands.filter(({ id }) => id.startsWith(`${group} `))
  return [
    `Usage: guard ${group} <command> [options]`,
    '',
    ...columns(found.map((command) => [usage(command), command.summary])),
    '',
    `"guard ${group} <command> --help" shows what a command takes.`,
  ]
}

const overview = (commands: readonly Command[]): string[] => [
  'guard: a local gateway that watches the model requests and tool calls of coding agents',
  '',
  'Usage: guard <command> [options]',
  '',
  ...chapters(commands),
  'Options',
  ...columns(Object.entries(globalFlags)),
  '',
  '"guard <command> --help" shows what a command takes.',
]

/** Commands by heading, by their first word; the last heading takes the rest. */
const headings: readonly (readonly [title: string, words: readonly string[]])[] = [
  ['Start', ['gateway', 'run', 'setup', 'doctor', 'status']],
  ['Try', ['playground']],
  ['Look', ['report', 'replay', 'sessions', 'agents', 'policy', 'notify']],
  ['Tools (MCP)', ['mcp']],
  ['More', []],
]

const OVERVIEW_WIDTH = 34

const chapters = (commands: readonly Command[]): string[] => {
  const named = new Set(headings.flatMap(([, words]) => words))
  return headings.flatMap(([title, words]) => {
    const found = commands
      .filter(({ id }) => (words.length > 0 ? words.includes(firstWord(id)) : !named.has(firstWord(id))))
      .sort((a, b) => words.indexOf(firstWord(a.id)) - words.indexOf(firstWord(b.id)))
    return found.length === 0
      ? []
      : [
          title,
          ...columns(
            found.map((command) => [usage(command), command.summary]),
            OVERVIEW_WIDTH,
          ),
          '',
        ]
  })
}

const firstWord = (id: string): string => id.split(' ', 1)[0] ?? ''

const details = (command: Command): string[] => {
  const options = Object.entries(command.options ?? {})
  return [
    sentence(command.summary),
    '',
    `Usage: guard ${usageWith(options.length > 0 ? ['[options]'] : [], command)}`,
    '',
    ...(options.length > 0 ? [...columns(options), ''] : []),
    'For every command',
    ...columns(Object.entries(globalFlags)),
    ...(command.example === undefined ? [] : ['', 'Example', `  ${command.example}`]),
  ]
}

const usage = (command: Command): string => (command.args === undefined ? command.id : `${command.id} ${command.args}`)

/** Options stand in front of what begins a command line of its own, which they would else be part of. */
const usageWith = (options: readonly string[], { id, args }: Command): string => {
  const own = args === undefined ? [] : [args]
  return [id, ...(args?.startsWith('[--') === true ? [...options, ...own] : [...own, ...options])].join(' ')
}

/** Two columns; `width` of the left one, or as much as its widest cell takes. */
const columns = (rows: readonly (readonly [left: string, right: string])[], width?: number): string[] => {
  const wide = width ?? Math.max(22, ...rows.map(([left]) => left.length))
  const gap = `\n  ${' '.repeat(wide)}`
  return rows.map(([left, right]) => `  ${left.padEnd(wide)}${left.length > wide ? gap : ''} ${right}`)
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
