import { parseArgs } from 'node:util'

const suites = [
  'throughput',
  'load',
  'mcp',
  'replay',
  'pages',
  'scale',
  'sockets',
  'daemon',
  'vectors',
  'corpus',
  'synthetic',
] as const
/** The suites that evaluate detectors. They run by default if an option concerns detectors. */
const quality: readonly string[] = ['vectors', 'corpus', 'synthetic']

/** Parsed options of a bench run. */
export interface BenchOptions {
  readonly suites: readonly (typeof suites)[number][]
  /** Name filters. Empty: everything runs. */
  readonly names: readonly string[]
  /** A minimal run that shows that every part works. */
  readonly smoke: boolean
  /** More requests and rows in the scale suite, more requests and a longer pause in the daemon suite. */
  readonly full: boolean
  readonly json: boolean
  readonly list: boolean
  /** Chats in all, in the daemon suite. */
  readonly requests: number | undefined
  /** Seconds of the pause after them. */
  readonly idle: number | undefined
  /** Folder of an installed Portkey gateway, for the daemon suite. */
  readonly portkey: string | undefined
  /** Folder of another checkout, whose gateway is measured beside this one in the suites load and daemon. */
  readonly against: string | undefined
  /** Rounds of the suites load, mcp, scale and daemon, and of ingest in the replay suite. */
  readonly rounds: number
  /** Folder for CPU profiles of the gateway under load. */
  readonly profile: string | undefined
  /** Ids or files of detectors. Default: all detectors, unless presets are given. */
  readonly detectors: readonly string[]
  /** Names or files of rule sets. */
  readonly presets: readonly string[]
  /** Ids of loop guards of other agents, or `all`. */
  readonly peers: readonly string[]
  /** Dollars per million tokens. Default: a list price. */
  readonly price: number | undefined
  /** Folder of trajectories. */
  readonly data: string | undefined
  readonly split: string | undefined
  /** Output file for observations and summaries, one per line. */
  readonly out: string | undefined
  /** File of an earlier run, for comparison. */
  readonly baseline: string | undefined
  readonly failIf: readonly string[]
  readonly seed: number
  /** Includes figures by source and kind. */
  readonly groups: boolean
}

export const usage = `npm run bench -- [name…] [--suite ${suites.join(',')}] [--smoke] [--json] [--list]
  load, mcp, replay, pages, scale, sockets, daemon: --rounds n; load, scale: --profile folder; scale, daemon: --full
  load, daemon:                --against checkout
  daemon:                      --requests n, --idle seconds, --portkey folder, --out file, --baseline file
  vectors, corpus, synthetic:  --detector <id|./file.ts>…, --preset <name|./file.yml>…, --peer <id|all>…,
                               --data folder, --split name, --seed n, --price dollars, --out file, --baseline file, --fail-if "clean_fp_rate>0.01"…, --groups`

const none: string[] = []

const flags = {
  suite: { type: 'string', multiple: true },
  rounds: { type: 'string', default: '5' },
  smoke: { type: 'boolean', default: false },
  full: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
  requests: { type: 'string' },
  idle: { type: 'string' },
  portkey: { type: 'string' },
  against: { type: 'string' },
  profile: { type: 'string' },
  detector: { type: 'string', multiple: true, default: none },
  preset: { type: 'string', multiple: true, default: none },
  peer: { type: 'string', multiple: true, default: none },
  price: { type: 'string' },
  data: { type: 'string' },
  split: { type: 'string' },
  out: { type: 'string' },
  baseline: { type: 'string' },
  'fail-if': { type: 'string', multiple: true, default: none },
  seed: { type: 'string', default: '1' },
  groups: { type: 'boolean', default: false },
} as const

/** Parses the arguments. Throws a TypeError with the invalid argument. */
export const readOptions = (args: readonly string[], env: NodeJS.ProcessEnv = process.env): BenchOptions => {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: flags })
  const { smoke, full, json, list, against, profile, detector, preset, peer, price, split, out, baseline, groups } =
    values
  const aboutDetectors =
    detector.length + preset.length + peer.length + values['fail-if'].length > 0 ||
    [values.data, out, baseline, price].some((one) => one !== undefined)
  return {
    suites: chosenSuites(values.suite, aboutDetectors),
    names: positionals,
    smoke,
    full,
    json,
    list,
    rounds: wholeNumber('--rounds', values.rounds, 1),
    requests: values.requests === undefined ? undefined : wholeNumber('--requests', values.requests, 1),
    idle: values.idle === undefined ? undefined : wholeNumber('--idle', values.idle, 1),
    portkey: values.portkey ?? (env.GUARD_BENCH_PORTKEY || undefined),
    against,
    profile,
    detectors: detector,
    presets: preset,
    peers: peer,
    price: price === undefined ? undefined : amount('--price', price),
    data: values.data ?? (env.GUARD_BENCH_DATA || undefined),
    split,
    out,
    baseline,
    failIf: values['fail-if'],
    seed: wholeNumber('--seed', values.seed, 0),
    groups,
  }
}

const chosenSuites = (named: readonly string[] | undefined, aboutDetectors: boolean): BenchOptions['suites'] => {
  const wanted = named?.flatMap((list) => list.split(',')) ?? (aboutDetectors ? quality : suites)
  for (const name of wanted) {
    if (!suites.some((suite) => suite === name))
      throw new TypeError(`There is no suite "${name}"; there is ${suites.join(', ')}.`)
  }
  return suites.filter((suite) => wanted.includes(suite))
}

const wholeNumber = (flag: string, text: string, least: number): number => {
  const value = Number(text)
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= least) return value
  throw new TypeError(`${flag} takes a whole number from ${least}, not "${text}".`)
}

const amount = (flag: string, text: string): number => {
  const value = Number(text)
  if (text.trim() !== '' && Number.isFinite(value) && value >= 0) return value
  throw new TypeError(`${flag} takes dollars a million tokens, for example 3 or 0.3, not "${text}".`)
}

/** True if the name matches the filters. */
export const isChosen = ({ names }: BenchOptions, ...candidates: readonly string[]): boolean =>
  names.length === 0 ||
  names.some((wanted) => candidates.some((name) => name.toLowerCase().includes(wanted.toLowerCase())))
