import { parseArgs } from 'node:util'

const suites = ['throughput', 'load', 'replay'] as const

/** What was asked of a bench run. */
export interface BenchOptions {
  readonly suites: readonly (typeof suites)[number][]
  /** Only what has one of these in its name; everything if empty. */
  readonly names: readonly string[]
  /** As little as shows that everything runs. */
  readonly smoke: boolean
  readonly json: boolean
  readonly list: boolean
  /** Rounds of the load suite, and of ingest in the replay suite. */
  readonly rounds: number
  /** Folder that profiles of the gateway under load are written to. */
  readonly profile: string | undefined
}

export const usage = `npm run bench -- [name…] [--suite throughput|load|replay] [--rounds n] [--smoke] [--json] [--list] [--profile folder]`

/** Reads the arguments; throws a TypeError that says what is wrong with them. */
export const readOptions = (args: readonly string[]): BenchOptions => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      suite: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      smoke: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      profile: { type: 'string' },
    },
  })
  const { suite, smoke, json, list, profile } = values
  const chosen = suites.filter((name) => suite === undefined || name === suite)
  if (chosen.length === 0) throw new TypeError(`There is no suite "${suite}"; there is ${suites.join(', ')}.`)
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new TypeError(`--rounds takes a whole number from 1, not "${values.rounds}".`)
  return { suites: chosen, names: positionals, smoke, json, list, rounds, profile }
}

/** Whether a name was asked for. */
export const isChosen = ({ names }: BenchOptions, ...candidates: readonly string[]): boolean =>
  names.length === 0 ||
  names.some((wanted) => candidates.some((name) => name.toLowerCase().includes(wanted.toLowerCase())))
