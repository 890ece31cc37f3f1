import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import {
  type Command,
  columnLines,
  costText,
  countText,
  GuardError,
  readYaml,
  terminalLine,
  writeJson,
} from 'guard-gateway/core'
import { type Asked, type PolicyCommandOptions, policyPath } from '../asked.ts'
import { isRecord } from '../rules.ts'
import type { Simulation } from './simulation.ts'

/** `policy simulate`, also reached as `policies simulate`. */
export const simulateCommands = (options: PolicyCommandOptions): readonly Command[] =>
  ['policy simulate', 'policies simulate'].map((id) => ({
    id,
    args: '<preset_or_file>',
    summary:
      id === 'policy simulate'
        ? 'say what other rules would have done to stored sessions'
        : 'the same as policy simulate',
    options: {
      '--project <id>': 'of this project; "default" if not said',
      '--mode <mode>': 'shadow or enforce',
      '--since <time>': 'sessions since: an age such as 24h, or a time',
      '--until <time>': 'and until then',
      '--limit <number>': 'so many sessions at most, newest first; 200 if not said',
    },
    example: `guard ${id} rules.yml --project shop --since 7d`,
    run: (input, io) => options.asking((ask) => simulatePolicy({ ask, input, io }, options)),
  }))

/** Prints what the rules of a preset or a file would have done. Throws INVALID_POLICY and INVALID_YAML. */
const simulatePolicy = async (asked: Asked, { presets }: PolicyCommandOptions): Promise<number> => {
  const { ask, input, io } = asked
  const { project = 'default', mode, since, until, limit, json } = input.options
  const wanted = await wantedBy(input.args[0] ?? '', await presets(), io.cwd)
  const range = { mode, since, until, limit: limit === undefined ? undefined : Number(limit) }
  const body = { ...wanted, ...Object.fromEntries(Object.entries(range).filter(([, value]) => value !== undefined)) }
  const simulation = (await ask('POST', `${policyPath(project)}/simulate`, body)) as Simulation
  if (json === true) io.out.write(`${writeJson(simulation)}\n`)
  else for (const line of linesOf(simulation)) io.out.write(`${line}\n`)
  for (const { message } of simulation.not_simulated) io.err.write(`${terminalLine(message)}\n`)
  if (simulation.truncated) io.err.write('There is more: raise --limit, or say --since and --until.\n')
  return 0
}

/** A word that names a preset is one; anything else is a file. */
const wantedBy = async (name: string, presets: Readonly<Record<string, unknown>>, cwd: string): Promise<object> => {
  if (Object.hasOwn(presets, name)) return { preset: name }
  const text = await readFile(resolve(cwd, name), 'utf8').catch((cause: Error) => {
    const known = Object.keys(presets).join(', ')
    throw new GuardError('INVALID_POLICY', `"${terminalLine(name)}" is no preset and no file; presets are ${known}.`, {
      cause,
    })
  })
  const { value } = readYaml(await import('yaml'), text)
  if (Array.isArray(value)) return { rules: value }
  if (isRecord(value)) return value
  throw new GuardError('INVALID_POLICY', `"${terminalLine(name)}" holds no policy and no list of rules.`)
}

const linesOf = ({ sessions, requests, mode, flagged, rules }: Simulation): readonly string[] => {
  const verb = mode === 'enforce' ? 'stopped or flagged' : 'flagged'
  const head = `${countText(sessions)} sessions, ${countText(requests)} requests: ${countText(flagged.length)} ${verb}`
  return [head, ...table(ruleRows(rules)), ...table(sessionRows(flagged))]
}

const table = (rows: readonly (readonly string[])[]): readonly string[] =>
  rows.length < 2 ? [] : ['', ...columnLines(rows)]

const ruleRows = (rules: Simulation['rules']): readonly (readonly string[])[] => [
  ['rule', 'sessions', 'share', 'requests after', 'tokens after', 'cost after', 'differing results', 'not seen'],
  ...rules.map((rule) => [
    terminalLine(rule.rule_id),
    countText(rule.sessions),
    `${(rule.share * 100).toFixed(1)} %`,
    countText(rule.requests_after),
    countText(rule.tokens_after),
    costText(rule.cost_after_micro),
    countText(rule.differing_results),
    rule.unseen_sessions === 0 ? '' : `${countText(rule.unseen_sessions)} sessions`,
  ]),
]

const sessionRows = (flagged: Simulation['flagged']): readonly (readonly string[])[] => [
  ['session', 'request', 'step', 'reason', 'rule', 'requests after', 'tokens after', 'equal results'],
  ...flagged.map((one) => [
    one.session_id,
    one.first_request_id,
    countText(one.step),
    terminalLine(one.code),
    terminalLine(one.rule_id),
    countText(one.requests_after),
    countText(one.tokens_after),
    one.results_equal === null ? '' : one.results_equal ? 'yes' : 'no',
  ]),
]
