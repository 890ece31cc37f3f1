import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TraceEvent, TreeSpan } from '#lib/trace'
import type { RunSummary } from '#lib/trace-file'
import { type Started, type StartOptions, startGateway } from '../../kit/gateway.ts'

/** A run as the gateway gives it. */
export interface Shown {
  readonly run: RunSummary & { readonly attributes: Readonly<Record<string, unknown>> }
  readonly spans: readonly TreeSpan[]
  readonly events: readonly TraceEvent[]
}

/** A gateway that takes OTLP. */
export class Receiver {
  readonly started: Started
  constructor(started: Started) {
    this.started = started
  }
  get url(): string {
    return `${this.started.url}/v1/traces`
  }
  /** Posts OTLP with the key; an object goes as JSON. */
  post(body: object | string | Uint8Array, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return fetch(this.url, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.started.key}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body),
    })
  }
  /** Posts what must be taken, and gives the answer's JSON. */
  async taken(body: object, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const answer = await this.post(body, headers)
    const text = await answer.text()
    assert.equal(answer.status, 200, text)
    return JSON.parse(text)
  }
  async run(traceId: string): Promise<Shown> {
    const { status, text, json } = await this.started.request('GET', `/api/v1/runs/${encodeURIComponent(traceId)}`)
    assert.equal(status, 200, text)
    return json as Shown
  }
  /** Ids of all runs, newest first. */
  async runIds(): Promise<readonly string[]> {
    const { json } = await this.started.request('GET', '/api/v1/runs')
    return (json as { readonly runs: readonly RunSummary[] }).runs.map(({ trace_id }) => trace_id)
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.started.close()
  }
}

export const startReceiver = async (options?: StartOptions): Promise<Receiver> =>
  new Receiver(await startGateway(options))

/** All bytes of the database, whatever file of it they are in. */
export const databaseBytes = async ({ started }: Receiver): Promise<string> => {
  const names = (await readdir(started.folder)).filter((name) => name.startsWith('guard.db'))
  assert.ok(names.length > 0)
  const files = await Promise.all(names.map((name) => readFile(join(started.folder, name))))
  return Buffer.concat(files).toString('latin1')
}
