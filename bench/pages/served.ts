import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { http, serve } from 'guard-gateway/plugins/http'
import { ui } from 'guard-gateway/plugins/ui'
import { bigRun } from '../replay/big-run.ts'
import { fragmentOf } from '../replay/fragments.ts'
import { replayGateway } from '../replay/open.ts'

/** The pages of a new trace store, on a port that the system assigns. */
export interface Served {
  readonly url: string
  /** Stores a run of `spans` spans and returns the path of its page. */
  keep(spans: number): Promise<string>
  close(): Promise<void>
}

/** Discards log lines. */
const nowhere = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() })

/** Serves the pages of a store with `runs` runs. */
export const servePages = async (runs: number): Promise<Served> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-bench-pages-'))
  const gateway = replayGateway(join(folder, 'guard.db'), http({ gateway_key: 'guard_bench_key_0123456789' })).use(
    ui({ version: '0' }),
  )
  const { url, close } = await serve(gateway, { port: 0, log: nowhere() })
  await gateway.keep(Array.from({ length: runs }, (_, at) => fragmentOf(at + 1)))
  return {
    url,
    keep: async (spans) => {
      const trace_id = spans.toString(16).padStart(32, 'b')
      await gateway.keep([bigRun(trace_id, spans)])
      return `/replay/${trace_id}`
    },
    close: async () => {
      await close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
