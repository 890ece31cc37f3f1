import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import fastify from 'fastify'
import { type Attributes, Gateway, type Plugin, type Settled } from 'guard-gateway/core'
import { json } from 'guard-gateway/plugins/export-formats/json'
import { jsonl } from 'guard-gateway/plugins/export-formats/jsonl'
import { otel } from 'guard-gateway/plugins/export-formats/otel'
import { asFastifyPlugin, http } from 'guard-gateway/plugins/http'
import { recorder } from 'guard-gateway/plugins/recorder'
import { type ReplayOptions, replay } from 'guard-gateway/plugins/replay'
import { sessions } from 'guard-gateway/plugins/sessions'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { foundation } from 'guard-gateway/presets/foundation'
import type { MemoryBudget } from '#lib/memory-budget'
import type { Artifact, TraceEvent, TreeSpan } from '#lib/trace'
import type { RunSummary } from '#lib/trace-file'
import { type FakeClock, fakeClock } from '../../kit/clock.ts'
import { type Answer, injected } from '../../kit/injected.ts'

export { type Answer, expecting, refused } from '../../kit/injected.ts'

/** A run as `GET /api/v1/runs/{trace_id}` returns it. Small integers are numbers. */
export interface Bundle {
  readonly schema: string
  readonly run: RunSummary & { readonly attributes: Attributes }
  readonly spans: readonly TreeSpan[]
  readonly events: readonly TraceEvent[]
  readonly artifacts: readonly Artifact[]
}

/** A gateway with Replay, without port and upstream. */
export interface Bench {
  readonly gateway: Gateway
  readonly clock: FakeClock
  readonly faults: unknown[]
  send(
    method: 'GET' | 'POST' | 'PATCH',
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>
  /** The body of a response as a stream, for slow readers. */
  stream(path: string): Promise<Readable>
  settle(settled: Settled): Promise<void>
  close(): Promise<void>
}

export interface BenchOptions extends ReplayOptions {
  readonly backend?: 'memory' | 'sqlite'
  readonly plugins?: readonly Plugin[]
  /** Replaces the storage of the backend. */
  readonly storage?: Plugin
  /** The memory that its stores share. */
  readonly memory_budget?: MemoryBudget
  /** Uses the database of an earlier gateway. */
  readonly folder?: string
}

const HOST = '127.0.0.1:8787'

const providing = (budget: MemoryBudget): Plugin => ({
  name: 'memory-budget',
  apply: (gateway) => gateway.service('memory_budget').provide(budget),
})

export const startReplay = async (options: BenchOptions = {}): Promise<Bench> => {
  const { backend = 'memory', plugins = [], folder, storage: given, memory_budget, ...replayOptions } = options
  const made = folder ?? (backend === 'sqlite' ? await mkdtemp(join(tmpdir(), 'guard-replay-')) : undefined)
  const clock = fakeClock()
  const storage = given ?? (made === undefined ? memory() : sqlite({ file: join(made, 'guard.db') }))
  const gateway = new Gateway({ clock }).use(
    ...foundation(),
    storage,
    ...(memory_budget === undefined ? [] : [providing(memory_budget)]),
    json,
    jsonl,
    otel,
    http({ gateway_key: 'guard_replay_test_key_0123' }),
    sessions(),
    recorder(),
    replay(replayOptions),
    ...plugins,
  )
  const faults: unknown[] = []
  gateway.hooks.fault.tap('test', (error) => void faults.push(error))
  const app = fastify()
  await app.register(asFastifyPlugin(gateway))
  await app.ready()
  return {
    gateway,
    clock,
    faults,
    send: (method, path, body, headers) => injected(app, method, path, body, headers),
    stream: async (url) => {
      const answer = await app.inject({ method: 'GET', url, headers: { host: HOST }, payloadAsStream: true })
      assert.equal(answer.statusCode, 200)
      return answer.stream()
    },
    settle: (settled) => gateway.hooks.settle.promise(settled),
    close: async () => {
      await app.close()
      if (made !== undefined && folder === undefined) await rm(made, { recursive: true, force: true })
    },
  }
}
