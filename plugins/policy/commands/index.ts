import { createInterface } from 'node:readline/promises'
import { isDeepStrictEqual } from 'node:util'
import { GuardError, type Plugin } from 'guard-gateway/core'
import { APPROVER_FLAG } from '#lib/approver'
import { ENFORCE_RECOMMENDED, RECOMMENDED } from '#lib/budget'
import { commandKind, type Input, type Io } from '#lib/command'
import { groupedText } from '#lib/format'
import { isJsonObject, type JsonObject, jsonObjectOf, listOf, writeJson } from '#lib/json'
import { DEFAULT_PROJECT } from '#lib/session'
import { columnLines, paintedWord, painter, terminalWidth, wrapLine } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import type { PolicySource } from '../policy.ts'
import type { PolicyAnswer } from '../schemas.ts'
import { simulateCommands } from '../simulate/command.ts'
import type { Simulation } from '../simulate/simulation.ts'
import { simulationLines } from '../simulate/text.ts'
import { type CommandContext, type PolicyCommandOptions, policyPath, suggestProjects } from './command-context.ts'
import { type RequestedPolicy, requestedPolicy } from './requested-policy.ts'

/** Gives the command line `policy show`, `policy apply`, `policy remove` and `policy simulate`. */
export const policyCommands = (options: PolicyCommandOptions): Plugin => ({
  name: 'policy-commands',
  requires: ['policy'],
  apply(gateway) {
    gateway.registry(commandKind).add({
      id: 'policy show',
      args: '[project]',
      summary: 'show the rules of a project, or of all that have none of their own',
      example: ['guard policy show', 'guard policy show shop', 'guard policy show shop --json mode,rules'],
      suggestions: { project: () => options.asking(suggestProjects) },
      paged: true,
      page: ({ args }) => `/policies/${encodeURIComponent(args[0] ?? DEFAULT_PROJECT)}`,
      route: 'GET /api/policies/{project_id}',
      run: (input, io) => options.asking((ask) => showPolicy({ ask, input, io })),
    })
    gateway.registry(commandKind).add({
      id: 'policy apply',
      args: '[preset_or_file]',
      summary: 'set the rules of all projects, or of one, to a preset or a file; without one, list the presets',
      options: {
        '--project <id>': 'of this project alone; of every project that has none of its own if not said',
        '--mode <mode>': 'and its mode: shadow or enforce',
        '--since <time>':
          'try it on sessions since: an age such as 24h, today, yesterday, or a time; the newest 200 if not said',
        '--dry-run': 'only say what would change, and what that would have done to stored sessions',
        '--yes': 'apply without a question',
        ...APPROVER_FLAG,
      },
      choices: { '--mode': ['shadow', 'enforce'] },
      example: [
        'guard policy apply',
        'guard policy apply enforce-recommended --mode enforce',
        'guard policy apply rules.yml --project shop --dry-run',
      ],
      suggestions: {
        preset_or_file: async () => Object.entries(options.summaries).map(([value, meaning]) => ({ value, meaning })),
        '--project': () => options.asking(suggestProjects),
      },
      run: (input, io) =>
        input.args.length === 0
          ? Promise.resolve(listPresets(input, io, options))
          : options.asking((ask) => applyPolicy({ ask, input, io }, options)),
    })
    gateway.registry(commandKind).add({
      id: 'policy remove',
      args: '<project>',
      summary: 'remove the policy of a project, which then follows that of default; its versions stay on record',
      options: { '--yes': 'remove without a question', ...APPROVER_FLAG },
      example: ['guard policy remove shop', 'guard policy remove shop --yes'],
      suggestions: { project: () => options.asking(suggestProjects) },
      route: 'DELETE /api/policies/{project_id}',
      run: (input, io) => options.asking((ask) => removePolicy({ ask, input, io })),
    })
    for (const command of simulateCommands(options)) gateway.registry(commandKind).add(command)
  },
})

/** Prints the presets, a line each, and which one to start with. */
const listPresets = ({ options }: Input, io: Io, { summaries, calledAs }: PolicyCommandOptions): number => {
  const presets = Object.entries(summaries)
  if (options.json === true) {
    io.out.write(`${writeJson({ presets: presets.map(([name, summary]) => ({ name, summary })) })}\n`)
    return 0
  }
  const width = terminalWidth(io.out) ?? Number.POSITIVE_INFINITY
  const left = Math.max(...presets.map(([name]) => name.length)) + 2
  for (const line of columnLines(presets).flatMap((whole) => wrapLine(whole, width, left))) io.out.write(`${line}\n`)
  if (options.quiet !== true) io.err.write(`To stop agents that are stuck: ${calledAs} ${ENFORCE_RECOMMENDED}\n`)
  return 0
}

/**
 * Prints the changes and their simulated effect on stored sessions, asks for confirmation unless told not to, and replaces the policy of a project;
 * 1 if the answer is no. Throws INVALID_POLICY, INVALID_YAML and USAGE.
 */
const applyPolicy = async (context: CommandContext, options: PolicyCommandOptions): Promise<number> => {
  const { ask, input, io } = context
  const { project = DEFAULT_PROJECT, yes, dryRun } = input.options
  const path = policyPath(project)
  const { body, document } = await requestedIn(input, await options.presets(), io.cwd)
  const now = (await ask('GET', path)) as PolicyAnswer
  const preview: Preview = { changes: policyDiff(document, now), simulation: await simulated(context, path, body) }
  if (dryRun === true) {
    print(context, preview, () => previewLines(preview, terminalWidth(io.out)))
    return 0
  }
  const isVerbose = isVerboseOutput(input)
  if (isVerbose || (yes !== true && canAsk(io)))
    for (const line of previewLines(preview, terminalWidth(io.err))) io.err.write(`${line}\n`)
  if (yes !== true && !(await confirmed(io, 'apply', `Apply this to ${projectText(String(project))}?`))) return 1
  const policy = (await ask('PUT', path, { ...body, expected_version: now.version })) as PolicyAnswer
  print(context, { ...policy, ...preview }, () => policyLines(policy, context))
  if (isVerbose) for (const line of [...warningLines(policy), ...nextLines(policy, options)]) io.err.write(`${line}\n`)
  return 0
}

/** Asks for confirmation unless told not to, removes the policy of a project and prints the one that it follows now; 1 if the answer is no. */
const removePolicy = async (context: CommandContext): Promise<number> => {
  const { ask, input, io } = context
  const path = policyPath(input.args[0])
  const now = (await ask('GET', path)) as PolicyAnswer
  const { project_id, version, mode_in_force, source } = now
  const next =
    project_id === DEFAULT_PROJECT ? 'the rules that come with the gateway hold' : 'that of project default holds'
  const question = `Remove the policy of ${projectText(project_id)} (version ${version}, mode ${mode_in_force})? Then ${next}.`
  if (input.options.yes !== true && source === 'own' && !(await confirmed(io, 'remove', question))) return 1
  const policy = (await ask('DELETE', `${path}?expected_version=${version}`)) as PolicyAnswer
  const changes = policyDiff(policy, now)
  if (isVerboseOutput(input)) for (const line of [...changes, ...warningLines(policy)]) io.err.write(`${line}\n`)
  print(context, { ...policy, changes }, () => policyLines(policy, context))
  return 0
}

/** What the command line names, in the mode that it names. */
const requestedIn = async (
  { args, options: { mode } }: Input,
  presets: Readonly<Record<string, unknown>>,
  cwd: string,
): Promise<RequestedPolicy> => {
  const requested = await requestedPolicy(args[0] ?? '', presets, cwd)
  return mode === undefined ? requested : withMode(requested, String(mode))
}

const withMode = ({ body, document }: RequestedPolicy, mode: string): RequestedPolicy => ({
  body: { ...body, mode },
  document: Array.isArray(document) ? { rules: document, mode } : { ...jsonObjectOf(document), mode },
})

/** What there is still to do so that loops are stopped, and nothing else. */
const nextLines = (
  { project_id, mode, warnings }: PolicyAnswer,
  { calledAs }: PolicyCommandOptions,
): readonly string[] => {
  const project = project_id === DEFAULT_PROJECT ? '' : ` --project ${terminalLine(project_id)}`
  const apply = (what: string) => `${calledAs} policy apply ${what} --mode enforce${project}`
  if (warnings.some(({ code }) => code === 'DEFAULT_ENFORCED')) return [`  ${apply(RECOMMENDED)}`]
  return mode === 'enforce' ? [] : [`Rules stop something in enforce mode alone: ${apply('<preset_or_file>')}`]
}

const isVerboseOutput = ({ options }: Input): boolean => options.json !== true && options.quiet !== true

const print = ({ input, io }: CommandContext, value: object, lines: () => readonly string[]): void => {
  for (const line of input.options.json === true ? [writeJson(value)] : lines()) io.out.write(`${line}\n`)
}

/** What the policy would have done to the newest stored sessions. */
const simulated = async (
  { ask, input }: CommandContext,
  path: string,
  body: RequestedPolicy['body'],
): Promise<Simulation> => {
  const { expected_version: _version, ...requested } = body
  const { since } = input.options
  return (await ask('POST', `${path}/simulate`, {
    ...requested,
    ...(since === undefined ? {} : { since }),
  })) as Simulation
}

interface Preview {
  readonly changes: readonly string[]
  readonly simulation: Simulation
}

const previewLines = ({ changes, simulation }: Preview, width: number | undefined): readonly string[] => {
  if (changes.length === 0) return ['Nothing changes.']
  const { sessions, not_simulated } = simulation
  if (sessions === 0) return [...changes, 'There is no stored session to try this on.']
  return [
    ...changes,
    'Tried on what is stored:',
    ...simulationLines(simulation, width),
    ...not_simulated.map(({ message }) => terminalLine(message)),
  ]
}

const canAsk = ({ in: input }: Io): boolean => input !== undefined && 'isTTY' in input && input.isTTY === true

const projectText = (project: string): string =>
  project === DEFAULT_PROJECT ? 'every project that has no policy of its own' : `project "${terminalLine(project)}"`

/** Throws USAGE without a terminal to ask on. */
const confirmed = async (io: Io, verb: string, question: string): Promise<boolean> => {
  const { in: input, err } = io
  if (input === undefined || !canAsk(io))
    throw new GuardError('USAGE', `Nobody can be asked here; add --yes to ${verb}.`)
  const asks = createInterface({ input, output: err })
  try {
    const typed = await asks.question(`${question} [y/N] `)
    return /^y(es)?$/i.test(typed.trim())
  } catch (error) {
    // Ctrl-C and Ctrl-D mean no
    if (!(error instanceof Error) || error.name !== 'AbortError') throw error
    err.write('\n')
    return false
  } finally {
    asks.close()
  }
}

/** The changes that a document makes to a policy, a line each; fields that a rule leaves out are not compared. Empty: no change is visible. */
const policyDiff = (document: unknown, now: PolicyAnswer): readonly string[] => {
  const requested = Array.isArray(document) ? { rules: document } : jsonObjectOf(document)
  return [
    ...modeChange(requested, now),
    ...(requested.rules === undefined ? [] : ruleChanges(listOf(requested.rules), now)),
  ]
}

const modeChange = (requested: JsonObject, now: PolicyAnswer): readonly string[] =>
  requested.mode === undefined || requested.mode === now.mode
    ? []
    : [`~ mode: ${valueText(now.mode)} -> ${valueText(requested.mode)}`]

const ruleChanges = (requested: readonly unknown[], { rules }: PolicyAnswer): readonly string[] => {
  const before = new Map<unknown, JsonObject>(rules.map((rule) => [rule.id, { ...rule }]))
  const lines: string[] = []
  for (const rule of requested.filter(isJsonObject)) {
    const id = rule.id ?? rule.rule_type
    const old = before.get(id)
    before.delete(id)
    lines.push(...(old === undefined ? [`+ ${words(rule)}`] : differences(String(id), rule, old)))
  }
  return [...lines, ...[...before.values()].map((rule) => `- ${words(rule)}`)]
}

const differences = (id: string, rule: JsonObject, old: JsonObject): readonly string[] =>
  Object.entries(rule)
    .filter(([name, value]) => !isDeepStrictEqual(value, old[name]))
    .map(
      ([name, value]) => `~ ${terminalLine(id)}: ${terminalLine(name)} ${valueText(old[name])} -> ${valueText(value)}`,
    )

const words = (rule: JsonObject): string =>
  Object.entries(rule)
    .map(([name, value]) => `${terminalLine(name)} ${valueText(value)}`)
    .join(', ')

const valueText = (value: unknown): string =>
  value === undefined ? 'not set' : terminalLine(typeof value === 'string' ? value : JSON.stringify(value))

/** Params, type. */
const spare = [6, 1]
const free = new Map([
  [0, 14],
  [1, 14],
  [6, 12],
])
const head = ['rule', 'type', 'threshold', 'window', 'action', '', 'params']

/** Prints the policy of a project, a rule a line; what it may not mean goes to stderr. */
const showPolicy = async ({ ask, input, io }: CommandContext): Promise<number> => {
  const policy = (await ask('GET', policyPath(input.args[0] ?? DEFAULT_PROJECT))) as PolicyAnswer
  if (input.options.json === true) io.out.write(`${writeJson(policy)}\n`)
  else for (const line of policyLines(policy, { input, io })) io.out.write(`${line}\n`)
  if (input.options.json !== true) for (const line of warningLines(policy)) io.err.write(`${line}\n`)
  return 0
}

/** A policy for people: whose it is, then its rules. */
const policyLines = (
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
const sourceText = (source: PolicySource, version: number): string =>
  ({
    own: `version ${version} of its own`,
    inherited: 'inherited from project default',
    built_in: 'the rules that come with the gateway',
  })[source]

/** One line for each thing that works and yet may not be meant. */
const warningLines = ({ warnings }: PolicyAnswer): readonly string[] =>
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
