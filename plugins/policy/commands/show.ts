import { groupedText } from 'guard-gateway/lib/format'
import { writeJson } from 'guard-gateway/lib/json'
import { DEFAULT_PROJECT } from 'guard-gateway/lib/session'
import { columnLines, paintedWord, painter, terminalWidth } from 'guard-gateway/lib/terminal'
import { terminalLine } from 'guard-gateway/lib/text'
import type { PolicySource } from '../policy.ts'
import type { PolicyAnswer } from '../schemas.ts'
import { type CommandContext, policyPath } from './command-context.ts'

/** Params, type. */
const spare = [6, 1]
const free = new Map([
  [0, 14],
  [1, 14],
  [6, 12],
])
const head = ['rule', 'type', 'threshold', 'window', 'action', '', 'params']

/** Prints the policy of a project, a rule a line; what it may not mean goes to stderr. */
export const showPolicy = async ({ ask, input, io }: CommandContext): Promise<number> => {
  const policy = (await ask('GET', policyPath(input.args[0] ?? DEFAULT_PROJECT))) as PolicyAnswer
  if (input.options.json === true) io.out.write(`${writeJson(policy)}\n`)
  else for (const line of policyLines(policy, { input, io })) io.out.write(`${line}\n`)
  if (input.options.json !== true) for (const line of warningLines(policy)) io.err.write(`${line}\n`)
  return 0
}

/** A policy for people: whose it is, then its rules. */
export const policyLines = (
  { project_id, version, source, mode, mode_in_force, rules }: PolicyAnswer,
  { input, io }: Pick<CommandContext, 'input' | 'io'>,
): readonly string[] => {
  const state = `${sourceText(source, version)}, mode ${mode_in_force}${mode === null ? ' of the configuration' : ''}`
  const colour = painter(input, io)
  const paint = (cell: string, column: number): string => (column === 4 ? paintedWord(cell, colour) : cell)
  const fit = { width: terminalWidth(io.out), spare, free, paint }
  return [
    `${terminalLine(project_id)}: ${state}`,
    ...columnLines([head, ...rules.map(ruleCells)], new Set([2, 3]), fit),
  ]
}

/** Where the policy of a project comes from, in words. */
export const sourceText = (source: PolicySource, version: number): string =>
  ({
    own: `version ${version} of its own`,
    inherited: 'inherited from project default',
    built_in: 'the rules that come with the gateway',
  })[source]

/** One line for each thing that works and yet may not be meant. */
export const warningLines = ({ warnings }: PolicyAnswer): readonly string[] =>
  warnings.map(
    ({ rule_id, message }) =>
      `warning: ${rule_id === '' ? '' : `rule ${terminalLine(rule_id)}: `}${terminalLine(message)}`,
  )

const ruleCells = (rule: PolicyAnswer['rules'][number]): readonly string[] => [
  terminalLine(rule.id),
  terminalLine(rule.rule_type),
  groupedText(rule.threshold),
  groupedText(rule.window_size),
  terminalLine(rule.action),
  rule.enabled ? '' : 'off',
  rule.params === undefined ? '' : terminalLine(JSON.stringify(rule.params)),
]
