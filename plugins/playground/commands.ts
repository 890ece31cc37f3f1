import { GuardError, type Plugin } from 'guard-gateway/core'
import { ENFORCE_RECOMMENDED } from '#lib/budget'
import { type AskJson, type Command, commandKind, type Input, type Io } from '#lib/command'
import { columnLines, hint, openInBrowser, terminalWidth } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import { outcomeOf, type StartedRun, stepLine } from './run-text.ts'
import { scenariosOf } from './scenario.ts'

const POLL_MS = 100
const MAX_PACE_MS = 2_000

/** Where commands of the Playground find it. */
export interface PlaygroundCommandOptions {
  /** The address of the gateway that runs. Throws GATEWAY_NOT_RUNNING. */
  readonly running: () => Promise<string>
  /** Gives `work` the gateway that runs at `address`, or one that is opened for it. */
  readonly asking: <T>(work: (ask: AskJson, address: string | undefined) => Promise<T>) => Promise<T>
}

/** Gives the command line `playground list`, `playground run` and `playground open`. */
export const playgroundCommands = (options: PlaygroundCommandOptions): Plugin => ({
  name: 'playground-commands',
  requires: ['playground'],
  apply: (gateway) => {
    const scenarios = scenariosOf(gateway).ids()
    const called = () => gateway.calledAs.here
    for (const command of [list(options), run(options, scenarios, called), open(options)])
      gateway.registry(commandKind).add(command)
  },
})

interface Listed {
  readonly scenarios: readonly {
    readonly id: string
    readonly kind: string
    readonly title: string
    readonly step_count: number
    /** Empty where no style can be chosen. */
    readonly styles: readonly string[]
  }[]
}

const list = ({ asking }: PlaygroundCommandOptions): Command => ({
  id: 'playground list',
  summary: 'list the scenarios that show what Guard does',
  example: ['guard playground list', 'guard playground list --json id,title,step_count'],
  paged: true,
  page: () => '/playground',
  route: 'GET /api/v1/playground/scenarios',
  unconfigured: 'memory',
  async run({ options }, io) {
    const answer = (await asking((ask) => ask('GET', '/api/v1/playground/scenarios'))) as Listed
    if (options.json === true) io.out.write(`${JSON.stringify(answer)}\n`)
    else for (const line of scenarioLines(answer, terminalWidth(io.out))) io.out.write(`${line}\n`)
    return 0
  },
})

const scenarioLines = ({ scenarios }: Listed, width: number | undefined): readonly string[] =>
  columnLines(
    [
      ['scenario', 'title', 'kind', 'steps'],
      ...scenarios.map(({ id, kind, step_count, title }) => [id, terminalLine(title), kind, String(step_count)]),
    ],
    new Set([3]),
    { width, spare: [2, 3], free: new Map([[1, 20]]) },
  )

const run = (options: PlaygroundCommandOptions, scenarios: readonly string[], called: () => string): Command => ({
  id: 'playground run',
  args: '[scenario]',
  summary: 'run a scenario (exact-loop if none is named) through the real pipeline, without provider and key',
  options: {
    '--mode <mode>': 'shadow or enforce; shadow if absent',
    '--style <id>': 'API style of its requests',
    '--pace <ms>': 'wait so long between steps, up to 2000',
    '--all': 'every scenario, one after another',
  },
  choices: { scenario: scenarios, '--mode': ['shadow', 'enforce'] },
  example: [
    'guard playground run',
    'guard playground run exact-loop --mode enforce',
    'guard playground run --all --json',
  ],
  unconfigured: 'memory',
  async run(input, io) {
    const code = await options.asking((ask, address) => runAll(ask, input, io, address))
    if (input.options.mode === 'enforce')
      hint(`To stop agents of your own that are stuck: ${called()} ${ENFORCE_RECOMMENDED}`, input, io)
    return code
  },
})

/** Runs what was named, or everything; 1 if an expectation was missed. */
const runAll = async (ask: AskJson, { args, options }: Input, io: Io, address: string | undefined): Promise<number> => {
  const json = options.json === true
  const order = choices(options)
  let missed = 0
  for (const named of await ordersOf(ask, args[0], options)) {
    const ended = await follow(ask, { ...order, ...named }, { options }, io)
    io.out.write(json ? `${JSON.stringify(ended)}\n` : `${outcomeOf(ended, address, { options }, io)}\n`)
    if (ended.matched !== true) missed++
  }
  return missed === 0 ? 0 : 1
}

/** Flags as members of an order. */
const choices = ({ mode, style, pace }: Input['options']): object => ({
  ...(typeof mode === 'string' ? { mode: modeIn(mode) } : {}),
  ...(typeof style === 'string' ? { style } : {}),
  ...(typeof pace === 'string' ? { pace_ms: paceIn(pace) } : {}),
})

const modeIn = (text: string): string => {
  if (text === 'shadow' || text === 'enforce') return text
  throw new GuardError('USAGE', `--mode is shadow or enforce, not "${terminalLine(text)}".`)
}

const paceIn = (text: string): number => {
  if (/^\d{1,4}$/.test(text) && Number(text) <= MAX_PACE_MS) return Number(text)
  throw new GuardError('USAGE', `--pace takes 0 to ${MAX_PACE_MS} milliseconds, not "${text}".`)
}

/** What is to be run; of all scenarios, those in which no style can be chosen run in their own. */
const ordersOf = async (
  ask: AskJson,
  named: string | undefined,
  { all }: Input['options'],
): Promise<readonly object[]> => {
  if (all !== true) return [{ scenario: named ?? 'exact-loop' }]
  if (named !== undefined)
    throw new GuardError('USAGE', `Name a scenario or say --all, not both: "${terminalLine(named)}".`)
  const { scenarios } = (await ask('GET', '/api/v1/playground/scenarios')) as Listed
  return scenarios.map(({ id, styles }) => ({ scenario: id, ...(styles.length === 0 ? { style: undefined } : {}) }))
}

/** Starts a run and prints its steps until it has ended. */
const follow = async (ask: AskJson, order: object, input: Pick<Input, 'options'>, io: Io): Promise<StartedRun> => {
  const quiet = input.options.json === true
  let state = (await ask('POST', '/api/v1/playground/runs', order)) as StartedRun
  if (!quiet) io.out.write(`${state.scenario_id}  ${state.mode}\n`)
  for (let printed = 0; ; ) {
    if (!quiet) for (const step of state.steps.slice(printed)) io.out.write(`${stepLine(step, input, io)}\n`)
    printed = state.steps.length
    if (state.status !== 'queued' && state.status !== 'running') return state
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    state = (await ask('GET', `/api/v1/playground/runs/${state.id}`)) as StartedRun
  }
}

const open = ({ running }: PlaygroundCommandOptions): Command => ({
  id: 'playground open',
  summary: 'open the Playground in the browser',
  example: ['guard playground open', 'guard playground open --json'],
  unconfigured: 'memory',
  run: async (input, io) => openInBrowser(await running(), '/playground', input, io),
})
