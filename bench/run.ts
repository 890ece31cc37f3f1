import { type BenchOptions, isChosen, readOptions, usage } from './options.ts'
import { loadText, replayText, throughputText } from './print.ts'
import { loadNames, runLoad } from './suites/load.ts'
import { replayNames, runReplay } from './suites/replay.ts'
import { runThroughput, throughputBench } from './suites/throughput.ts'

type Say = (text: string) => void

/** Runs what the arguments ask for; resolves to the exit code. `out` is for results, `err` for progress. */
const run = async (args: readonly string[], out: Say, err: Say): Promise<number> => {
  const options = readOptions(args)
  if (options.list) {
    out((await namesOf(options)).join('\n'))
    return 0
  }
  const told: Say = options.json ? () => {} : out
  const throughput = options.suites.includes('throughput') ? await runThroughput(options) : undefined
  if (throughput !== undefined) told(`${throughputText(throughput)}\n`)
  const load = options.suites.includes('load') ? await runLoad(options, err) : undefined
  if (load !== undefined) told(loadText(load))
  const replay = options.suites.includes('replay') ? await runReplay(options, err) : undefined
  if (replay !== undefined) told(replayText(replay))
  if (options.json) out(JSON.stringify({ throughput, load, replay }))
  return load !== undefined && load.failures.length > 0 ? 1 : 0
}

const namesOf = async (options: BenchOptions): Promise<string[]> => {
  const throughput = options.suites.includes('throughput') ? (await throughputBench(options)).tasks : []
  const load = options.suites.includes('load') ? loadNames() : []
  const replay = options.suites.includes('replay') ? replayNames() : []
  return [...throughput.map(({ name }) => name), ...[...load, ...replay].filter((name) => isChosen(options, name))]
}

try {
  process.exitCode = await run(
    process.argv.slice(2),
    (text) => process.stdout.write(`${text}\n`),
    (text) => process.stderr.write(`${text}\n`),
  )
} catch (error) {
  if (!(error instanceof TypeError)) throw error
  process.stderr.write(`${error.message}\n${usage}\n`)
  process.exitCode = 2
}
