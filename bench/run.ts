import { GuardError } from 'guard-gateway/core'
import { type BenchOptions, isChosen, readOptions, usage } from './options.ts'

type Say = (text: string) => void

/** The result of a suite: its part of the JSON, its text, and reasons for a failed run. */
interface BenchOutput {
  readonly json: Readonly<Record<string, unknown>>
  readonly text: string
  readonly failures: readonly string[]
}

/** Suites are imported on demand. Speed suites need more packages than the gateway. */
const parts: readonly {
  readonly of: BenchOptions['suites']
  run(options: BenchOptions, err: Say): Promise<BenchOutput>
}[] = [
  {
    of: ['throughput'],
    async run(options) {
      const [{ runThroughput }, { throughputText }] = await Promise.all([import('./suites/throughput.ts'), printed()])
      const throughput = await runThroughput(options)
      return { json: { throughput }, text: `${throughputText(throughput)}\n`, failures: [] }
    },
  },
  {
    of: ['load'],
    async run(options, err) {
      const [{ runLoad }, { loadText }] = await Promise.all([import('./suites/load.ts'), printed()])
      const load = await runLoad(options, err)
      return { json: { load }, text: loadText(load), failures: load.failures }
    },
  },
  {
    of: ['mcp'],
    async run(options, err) {
      const { mcpText, runMcp } = await import('./suites/mcp.ts')
      const mcp = await runMcp(options, err)
      return { json: { mcp }, text: `${mcpText(mcp)}\n`, failures: [] }
    },
  },
  {
    of: ['replay'],
    async run(options, err) {
      const [{ runReplay }, { replayText }] = await Promise.all([import('./suites/replay.ts'), printed()])
      const replay = await runReplay(options, err)
      return { json: { replay }, text: replayText(replay), failures: [] }
    },
  },
  {
    of: ['pages'],
    async run(options, err) {
      const [{ runPages }, { figuresText }] = await Promise.all([import('./suites/pages.ts'), printed()])
      const pages = await runPages(options, err)
      return { json: { pages }, text: figuresText(pages.figures), failures: [] }
    },
  },
  {
    of: ['scale'],
    async run(options, err) {
      const [{ runScale }, { scaleText }] = await Promise.all([
        import('./suites/scale.ts'),
        import('./scale/report.ts'),
      ])
      const scale = await runScale(options, err)
      return { json: { scale }, text: `${scaleText(scale)}\n`, failures: scale.failures }
    },
  },
  {
    of: ['sockets'],
    async run(options, err) {
      const { runSockets, socketsText } = await import('./suites/sockets.ts')
      const sockets = await runSockets(options, err)
      return { json: { sockets }, text: `${socketsText(sockets)}\n`, failures: [] }
    },
  },
  {
    of: ['daemon'],
    async run(options, err) {
      const [{ runDaemon }, { daemonText }] = await Promise.all([
        import('./suites/daemon.ts'),
        import('./daemon/report.ts'),
      ])
      const daemon = await runDaemon(options, err)
      return { json: { daemon }, text: `${daemonText(daemon)}\n`, failures: daemon.failures }
    },
  },
  {
    of: ['vectors', 'corpus', 'synthetic'],
    async run(options, err) {
      const [{ runQuality }, { qualityText }] = await Promise.all([
        import('./suites/quality.ts'),
        import('./quality/report.ts'),
      ])
      const { summaries, failures } = await runQuality(options, err)
      const lines = failures.map((failure) => `FAILED: ${failure}`)
      const text = [qualityText(summaries, options.groups), ...lines].join('\n')
      return { json: { summaries, failures }, text, failures }
    },
  },
]

const printed = () => import('./print.ts')

/** Runs the selected suites. Resolves to the exit code. `out` receives results, `err` progress. */
const run = async (args: readonly string[], out: Say, err: Say): Promise<number> => {
  const options = readOptions(args)
  if (options.list) {
    const names = await namesOf(options)
    out(options.json ? JSON.stringify({ names }) : names.join('\n'))
    return 0
  }
  await refuseUnknown(options)
  let json = {}
  let failed = false
  for (const part of parts) {
    if (!part.of.some((suite) => options.suites.includes(suite))) continue
    const result = await part.run(options, err)
    if (!options.json) out(result.text)
    json = { ...json, ...result.json }
    failed ||= result.failures.length > 0
  }
  if (options.json) out(JSON.stringify(json))
  return failed ? 1 : 0
}

/** Throws a TypeError for filters that match nothing. The names of recorded runs are known only after they are read. */
const refuseUnknown = async (options: BenchOptions): Promise<void> => {
  const { names, suites, data } = options
  const reads = suites.includes('corpus') && data !== undefined
  if (names.length === 0 || reads || (await namesOf(options)).length > 0) return
  if (suites.includes('synthetic') && (await import('./suites/synthetic.ts')).chosenSynthetic(options).length > 0)
    return
  throw new TypeError(`Nothing is called "${names.join('" or "')}"; --list says what there is.`)
}

const namesOf = async (options: BenchOptions): Promise<string[]> => {
  const { suites } = options
  const names: string[] = []
  if (suites.includes('load')) names.push(...(await import('./suites/load.ts')).loadNames())
  if (suites.includes('mcp')) names.push(...(await import('./suites/mcp.ts')).mcpNames())
  if (suites.includes('replay')) names.push(...(await import('./suites/replay.ts')).replayNames())
  if (suites.includes('pages')) names.push(...(await import('./suites/pages.ts')).pagesNames())
  if (suites.includes('scale')) names.push(...(await import('./suites/scale.ts')).scaleNames())
  if (suites.includes('sockets')) names.push(...(await import('./suites/sockets.ts')).socketNames())
  if (suites.includes('daemon')) names.push(...(await import('./suites/daemon.ts')).daemonNames())
  if (suites.includes('vectors')) names.push(...(await shipped()).map(({ id }) => id))
  if (suites.includes('synthetic')) names.push(...(await import('./synthetic/cases.ts')).syntheticKinds())
  const throughput = suites.includes('throughput')
    ? (await (await import('./suites/throughput.ts')).throughputBench(options)).tasks
    : []
  return [...throughput.map(({ name }) => name), ...names.filter((name) => isChosen(options, name))]
}

const shipped = async () => (await import('./quality/vectors.ts')).shippedVectors()

// under `guard bench`, the run stops when that process exits
process.once('disconnect', () => process.exit(1))
process.channel?.unref()

try {
  process.exitCode = await run(
    process.argv.slice(2),
    (text) => process.stdout.write(`${text}\n`),
    (text) => process.stderr.write(`${text}\n`),
  )
} catch (error) {
  if (!(error instanceof TypeError || error instanceof GuardError)) throw error
  const isMisspelt = 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
  process.stderr.write(`${error.message}\n${isMisspelt ? `${usage}\n` : ''}`)
  process.exitCode = 2
}
