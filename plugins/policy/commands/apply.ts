import { createInterface } from 'node:readline/promises'
import { GuardError } from 'guard-gateway/core'
import { RECOMMENDED } from 'guard-gateway/lib/budget'
import type { Input, Io } from 'guard-gateway/lib/command'
import { jsonObjectOf, writeJson } from 'guard-gateway/lib/json'
import { DEFAULT_PROJECT } from 'guard-gateway/lib/session'
import { terminalWidth } from 'guard-gateway/lib/terminal'
import { terminalLine } from 'guard-gateway/lib/text'
import { policyDiff } from '../document/diff.ts'
import type { PolicyAnswer } from '../schemas.ts'
import type { Simulation } from '../simulate/simulation.ts'
import { simulationLines } from '../simulate/text.ts'
import { type CommandContext, type PolicyCommandOptions, policyPath } from './command-context.ts'
import { type RequestedPolicy, requestedPolicy } from './requested-policy.ts'
import { policyLines, warningLines } from './show.ts'

/**
 * Prints the changes and their simulated effect on stored sessions, asks for confirmation unless told not to, and replaces the policy of a project;
 * 1 if the answer is no. Throws INVALID_POLICY, INVALID_YAML and USAGE.
 */
export const applyPolicy = async (context: CommandContext, options: PolicyCommandOptions): Promise<number> => {
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
  if (yes !== true && !(await confirmed(io, String(project)))) return 1
  const policy = (await ask('PUT', path, { ...body, expected_version: now.version })) as PolicyAnswer
  print(context, { ...policy, ...preview }, () => policyLines(policy, context))
  if (isVerbose) for (const line of [...warningLines(policy), ...nextLines(policy, options)]) io.err.write(`${line}\n`)
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
const confirmed = async (io: Io, project: string): Promise<boolean> => {
  const { in: input, err } = io
  if (input === undefined || !canAsk(io)) throw new GuardError('USAGE', 'Nobody can be asked here; add --yes to apply.')
  const asks = createInterface({ input, output: err })
  try {
    const typed = await asks.question(`Apply this to ${projectText(project)}? [y/N] `)
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
