import type { Command } from 'guard-gateway/core'
import { globalFlags } from './argv.ts'

/** What `guard --help` prints, or `guard <command> --help`. */
export const helpText = (commands: readonly Command[], topic?: Command): string => {
  const text = topic === undefined ? overview(commands) : details(topic)
  return `${text.join('\n')}\n`
}

const overview = (commands: readonly Command[]): string[] => [
  'guard: a local gateway that watches the model requests of coding agents',
  '',
  'Usage: guard <command> [options]',
  '',
  'Commands',
  ...columns(commands.map((command) => [usage(command), command.summary])),
  '',
  'Options',
  ...columns(Object.entries(globalFlags)),
  '',
  '"guard <command> --help" shows what a command takes.',
]

const details = (command: Command): string[] => {
  const options = Object.entries(command.options ?? {})
  return [
    sentence(command.summary),
    '',
    `Usage: guard ${usage(command)}${options.length > 0 ? ' [options]' : ''}`,
    '',
    ...(options.length > 0 ? [...columns(options), ''] : []),
    'For every command',
    ...columns(Object.entries(globalFlags)),
    ...(command.example === undefined ? [] : ['', 'Example', `  ${command.example}`]),
  ]
}

const usage = (command: Command): string => (command.args === undefined ? command.id : `${command.id} ${command.args}`)

const columns = (rows: readonly (readonly [left: string, right: string])[]): string[] => {
  const width = Math.max(22, ...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)} ${right}`)
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
