import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { programFile } from '../programs.ts'
import { bigRun } from './big-run.ts'
import { type Figure, figure } from './figures.ts'
import { replayGateway } from './open.ts'

const formats = ['json', 'jsonl', 'otel'] as const
const TRACE = 'f'.repeat(32)
const COMMAND = join(import.meta.dirname, '../../presets/default/bin.js')
const PEAK = pathToFileURL(programFile('bench/replay/peak')).href

/** Peak memory of the commands that export and import a run of `spans` spans, each in its own process without a gateway. */
export const exchangeMemory = async (spans: number): Promise<readonly Figure[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-bench-'))
  try {
    const gateway = await replayGateway(join(folder, 'guard.db')).open()
    await gateway.keep([bigRun(TRACE, spans)])
    await gateway.close()
    // port 1 has no listener, so that commands read the database
    const config = 'gateway_key: guard_bench_key_0123456789\nserver: { port: 1 }\nstorage: { file: guard.db }\n'
    await writeFile(join(folder, 'guard-config.yml'), config, { mode: 0o600 })
    const figures: Figure[] = []
    for (const format of formats) {
      const file = `run.${format}`
      const out = await peakOf(folder, ['export', TRACE, '--format', format, '--output', file])
      figures.push(figure(`peak memory: export ${spans} spans, ${format}`, out, 'MB'))
      figures.push(
        figure(`peak memory: import ${spans} spans, ${format}`, await peakOf(folder, ['import', file]), 'MB'),
      )
    }
    return figures
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Peak memory of one command, in MB. */
const peakOf = async (cwd: string, argv: readonly string[]): Promise<number> => {
  const peak = join(cwd, 'peak')
  const args = [...process.execArgv, '--import', PEAK, COMMAND, 'replay', ...argv]
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, GUARD_BENCH_PEAK: peak, OPENAI_API_KEY: 'sk-bench' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    said += part
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`replay ${argv.join(' ')} ended with ${code}: ${said.slice(-500)}`)
  return (Number(await readFile(peak, 'utf8')) * 1_024) / 1e6
}
