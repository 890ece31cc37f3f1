import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { type ComparedRatio, comparedWith, storedBaseline, writeBaseline } from '../daemon/baseline.ts'
import { type Cold, coldFigures, coldRequests, coldShapes } from '../daemon/cold.ts'
import type { DaemonFigure } from '../daemon/figures.ts'
import { firstFigures, firstRequests, type Latencies } from '../daemon/first.ts'
import { DaemonSetup, type Fleet } from '../daemon/fleet.ts'
import { chatFigures, idleFigures } from '../daemon/memory.ts'
import { type DaemonPlan, planOf } from '../daemon/plan.ts'
import { hasProc } from '../daemon/proc.ts'
import { daemonPrograms, PORTKEY_MISSING } from '../daemon/programs.ts'
import { measureStart } from '../daemon/start.ts'
import { type BenchOptions, isChosen } from '../options.ts'

const MISSING = 'this system has no /proc with the memory, CPU and writes of a process, as Linux has'

/** The result of the daemon suite. */
export interface DaemonResult {
  /** Why nothing was measured; null if it was. */
  readonly left_out: string | null
  /** What was left out, and how to have it measured. */
  readonly notes: readonly string[]
  readonly figures: readonly DaemonFigure[]
  /** Name of the baseline, and the ratios that it has too. */
  readonly baseline: string
  readonly compared: readonly ComparedRatio[]
  readonly failures: readonly string[]
}

const START = 'daemon_start'
const FIRST = 'daemon_first'
const IDLE = 'daemon_idle'
const CHATS = 'daemon_chats'
const COLD = 'daemon_cold'

/** Names of all measurements. */
export const daemonNames = (): readonly string[] => [START, FIRST, IDLE, CHATS, COLD]

type Log = (line: string) => void

/** Measures what a gateway costs a person: its start, memory, first requests, idling and writes, beside a raw pass-through. Throws a TypeError if the suite was asked for by name and this system cannot tell. */
export const runDaemon = async (options: BenchOptions, log: Log): Promise<DaemonResult> => {
  const file = options.baseline ?? storedBaseline()
  const nothing = { left_out: null, notes: [], figures: [], baseline: basename(file), compared: [], failures: [] }
  if (!hasProc()) {
    if (options.suites.length === 1) throw new TypeError(`The suite daemon cannot run: ${MISSING}.`)
    log(`daemon is left out: ${MISSING}`)
    return { ...nothing, left_out: `left out: ${MISSING}` }
  }
  const setup = await DaemonSetup.start(await daemonPrograms(options))
  try {
    if (!options.smoke) await setup.warmUp()
    // in a smoke run all parts share the targets
    const figures = options.smoke
      ? await setup.withFleet((fleet) => measure(setup, (work) => work(fleet), options, log))
      : await measure(setup, (work) => setup.withFleet(work), options, log)
    const compared = isCompared(options, file) ? await comparedWith(figures, file) : []
    if (options.out !== undefined && options.suites.length === 1) await writeBaseline(figures, options.out)
    const notes = options.portkey === undefined ? [PORTKEY_MISSING] : []
    return { ...nothing, notes, figures, compared, failures: setup.failures }
  } finally {
    await setup.close()
  }
}

const isCompared = ({ baseline, smoke }: BenchOptions, file: string): boolean =>
  baseline !== undefined || (!smoke && existsSync(file))

type WithFleet = <T>(work: (fleet: Fleet) => Promise<T>) => Promise<T>

const measure = async (
  setup: DaemonSetup,
  withFleet: WithFleet,
  options: BenchOptions,
  log: Log,
): Promise<readonly DaemonFigure[]> => {
  const plan = planOf(options)
  const figures: DaemonFigure[] = []
  const part = async (name: string, work: () => Promise<readonly DaemonFigure[]>): Promise<void> => {
    if (!isChosen(options, name)) return
    log(name)
    figures.push(...(await work()))
  }
  await part(START, async () => [await measureStart(setup, plan.rounds)])
  await part(FIRST, () => first(withFleet, plan))
  if (isChosen(options, IDLE) || isChosen(options, CHATS))
    await withFleet(async (fleet) => {
      await part(IDLE, () => idleFigures(fleet, plan))
      await part(CHATS, () => chatFigures(fleet, plan))
    })
  await part(COLD, () => cold(withFleet, plan))
  return figures
}

const first = async (withFleet: WithFleet, plan: DaemonPlan): Promise<readonly DaemonFigure[]> => {
  const rounds: Latencies[] = []
  for (let round = 0; round < plan.rounds; round++)
    rounds.push(await withFleet((fleet) => firstRequests(fleet, plan.first)))
  return firstFigures(rounds, plan.first.requests)
}

const cold = async (withFleet: WithFleet, plan: DaemonPlan): Promise<readonly DaemonFigure[]> => {
  const figures: DaemonFigure[] = []
  for (const shape of coldShapes()) {
    const rounds: Cold[] = []
    for (let round = 0; round < plan.rounds; round++)
      rounds.push(await withFleet((fleet) => coldRequests(fleet, shape, plan.cold)))
    figures.push(...coldFigures(shape, rounds, plan.cold))
  }
  return figures
}
