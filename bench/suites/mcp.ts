import { median, printTable } from '../kit/table.ts'
import { type McpSample, mcpRound } from '../mcp/rounds.ts'
import { type McpSetup, type Peers, type Route, startMcpSetup } from '../mcp/setup.ts'
import { type BenchOptions, isChosen } from '../options.ts'

const CLIENTS = 8
/** Uncompiled code makes a call several times as expensive. */
const WARM_CALLS = 24_000
const CALLS = 2_000
const SMOKE_CALLS = 40

/** An implementation of the peers, and a number of clients. */
interface Setting {
  readonly id: string
  readonly peers: Peers
  readonly clients: number
}

const settings: readonly Setting[] = [
  { id: 'lean_1', peers: 'lean', clients: 1 },
  { id: `lean_${CLIENTS}`, peers: 'lean', clients: CLIENTS },
  { id: 'official_1', peers: 'official', clients: 1 },
  { id: `official_${CLIENTS}`, peers: 'official', clients: CLIENTS },
  { id: `official_json_${CLIENTS}`, peers: 'official_json', clients: CLIENTS },
]

/** The figures of one route: medians over the rounds. CPU in microseconds per call. */
export interface McpFigures extends Omit<McpSample, 'threads_us'> {
  readonly setting: string
  /** Calls per second relative to the direct route in the same round. */
  readonly ratio: { readonly min: number; readonly median: number; readonly max: number }
  /** Relative to the direct route in the same round. */
  readonly added_p50_ms: number
  readonly threads_us: Readonly<Record<string, number>>
}

/** Names of all measurements. */
export const mcpNames = (): readonly string[] => settings.map(({ id }) => id)

/** Calls tools directly and through the proxies, in alternating order. */
export const runMcp = async (options: BenchOptions, log: (line: string) => void): Promise<readonly McpFigures[]> => {
  const figures: McpFigures[] = []
  for (const { id, peers, clients } of settings.filter((one) => isChosen(options, one.id))) {
    log(`${id}: ${clients} ${peers} client${clients === 1 ? '' : 's'}`)
    const setup = await startMcpSetup(peers, clients)
    try {
      const rounds = await roundsOf(setup, options)
      for (const { route } of setup.targets) figures.push(figuresOf(id, route, rounds))
    } finally {
      await setup.close()
    }
  }
  return figures
}

const roundsOf = async (setup: McpSetup, { smoke, rounds }: BenchOptions): Promise<(readonly McpSample[])[]> => {
  if (smoke) return [await mcpRound(setup, SMOKE_CALLS, 0)]
  await mcpRound(setup, WARM_CALLS, 0)
  const samples: (readonly McpSample[])[] = []
  for (let turn = 0; turn < rounds; turn++) samples.push(await mcpRound(setup, CALLS, turn))
  return samples
}

const figuresOf = (setting: string, route: Route, rounds: readonly (readonly McpSample[])[]): McpFigures => {
  const pairs = rounds.flatMap((round) => {
    const own = round.find((sample) => sample.way === route)
    const direct = round.find((sample) => sample.way === 'direct')
    return own === undefined || direct === undefined ? [] : [{ own, direct }]
  })
  const middle = (value: (sample: McpSample) => number) => median(pairs.map(({ own }) => value(own)))
  const ratios = pairs.map(({ own, direct }) => own.calls_per_s / direct.calls_per_s)
  const names = new Set(pairs.flatMap(({ own }) => Object.keys(own.threads_us)))
  return {
    setting,
    way: route,
    calls_per_s: middle((sample) => sample.calls_per_s),
    p50_ms: middle((sample) => sample.p50_ms),
    client_us: middle((sample) => sample.client_us),
    server_us: middle((sample) => sample.server_us),
    proxy_us: middle((sample) => sample.proxy_us),
    threads_us: Object.fromEntries([...names].map((name) => [name, middle(({ threads_us }) => threads_us[name] ?? 0)])),
    ratio: { min: Math.min(...ratios), median: median(ratios), max: Math.max(...ratios) },
    added_p50_ms: median(pairs.map(({ own, direct }) => own.p50_ms - direct.p50_ms)),
  }
}

/** Formats the figures as a table: calls, ratio, added latency, and CPU by process. */
export const mcpText = (figures: readonly McpFigures[]): string =>
  printTable(
    ['clients', 'way', 'calls/s', 'ratio', 'min', 'max', 'p50', 'adds', 'proxy', 'main', 'storage', 'client', 'server'],
    figures.map(({ setting, way, calls_per_s, ratio, p50_ms, added_p50_ms, proxy_us, threads_us, ...peers }) => [
      setting,
      way,
      calls_per_s.toFixed(0),
      ...[ratio.median, ratio.min, ratio.max].map((value) => value.toFixed(2)),
      ...[p50_ms, added_p50_ms].map((ms) => `${ms.toFixed(2)} ms`),
      ...[proxy_us, threads_us.MainThread ?? 0, threads_us['guard-sqlite'] ?? 0, peers.client_us, peers.server_us].map(
        (us) => `${us.toFixed(0)} µs`,
      ),
    ]),
  )
