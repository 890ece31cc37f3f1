import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Call, Session, Settled } from 'guard-gateway/core'
import { otlpPush, type ReceiverOptions } from 'guard-gateway/plugins/otlp-push'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'
import { jsonObjectOf, listOf } from '#lib/json'
import type { ReceiverHealth } from '../../../plugins/otlp-push/receiver.ts'
import { type FakeProvider, fakeProvider, type ReceivedRequest, type Script } from '../../kit/provider.ts'
import { aCall, aDecision, settled } from '../../kit/settled.ts'
import { type Bench, type BenchOptions, startReplay } from '../replay/kit.ts'

export interface Pair {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}
/** A span in OTLP/JSON. */
export interface SentSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly attributes: readonly Pair[]
  readonly events: readonly { readonly name: string; readonly attributes: readonly Pair[] }[]
}
export interface SentGroup {
  readonly resource: { readonly attributes: readonly Pair[] }
  readonly scopeSpans: readonly { readonly scope: object; readonly spans: readonly SentSpan[] }[]
}

/** What a request held. */
export const groupsIn = ({ body }: ReceivedRequest): readonly SentGroup[] =>
  JSON.parse(String(gunzipSync(body))).resourceSpans

export const spansIn = (request: ReceivedRequest): readonly SentSpan[] =>
  groupsIn(request).flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))

/** A receiver that does as it is told, and a gateway that sends to it while its time is told, too. */
export class Pushing {
  readonly bench: Bench
  readonly receiver: FakeProvider
  readonly #test: TestContext
  #calls = 0

  constructor(bench: Bench, receiver: FakeProvider, test: TestContext) {
    this.bench = bench
    this.receiver = receiver
    this.#test = test
  }

  /** All spans that came, in their order. */
  get spans(): readonly SentSpan[] {
    return this.receiver.requests.flatMap(spansIn)
  }
  get names(): readonly string[] {
    return this.spans.map(({ name }) => name)
  }
  /** How many spans each request held. */
  get sizes(): readonly number[] {
    return this.receiver.requests.map((request) => spansIn(request).length)
  }
  get health(): ReceiverHealth {
    const [health] = listOf(jsonObjectOf(this.bench.gateway.health.get('otlp_push')?.()).receivers)
    return health as ReceiverHealth
  }
  /** Sent, dropped and failed. */
  get counts(): readonly number[] {
    const { sent, dropped, failed } = this.health
    return [sent, dropped, failed]
  }

  /** Lets time pass. */
  async tick(ms: number): Promise<void> {
    this.bench.clock.advance(ms)
    this.#test.mock.timers.tick(ms)
    await rested()
  }
  /** Lets time pass, and what is sent then arrive. */
  async pass(ms: number): Promise<void> {
    await this.tick(ms)
    await until(() => this.health.sending === 0)
  }
  /** Until what has ended just now is sent, the root of its run included. */
  async gathered(): Promise<void> {
    for (let turn = 0; turn < 3; turn++) await this.pass(2_000)
  }
  async ingest(body: object): Promise<string> {
    const { status, text, body: answer } = await this.bench.send('POST', '/api/v1/traces', body)
    assert.ok(status < 300, text)
    return String(jsonObjectOf(answer).trace_id)
  }
  /** A model request that has ended. */
  async call(session: Session | null, over: Partial<Settled> = {}, about: Partial<Call> = {}): Promise<Call> {
    const call = await this.begin(session, about)
    await this.finish(call, over)
    return call
  }
  async begin(session: Session | null, about: Partial<Call> = {}): Promise<Call> {
    const call = aCall({ id: `guardreq_${++this.#calls}`, at: this.bench.clock.now(), session, ...about })
    await this.bench.gateway.hooks.decision.promise(aDecision(), call)
    return call
  }
  finish(call: Call, over: Partial<Settled> = {}): Promise<void> {
    return this.bench.settle(settled({ call, ended_at: this.bench.clock.now(), forwarded_at: call.at, ...over }))
  }
}

/** Lets go of the thread for as long as storage in memory takes to answer. */
export const rested = async (): Promise<void> => {
  for (let turn = 0; turn < 40; turn++) await new Promise(setImmediate)
}

/** Looks again and again until it is so. */
export const until = async (isSo: () => boolean): Promise<void> => {
  const late = performance.now() + 60_000
  while (!isSo()) {
    assert.ok(performance.now() < late, 'it did not come to be so')
    await new Promise(setImmediate)
  }
}

export interface PushOptions extends BenchOptions {
  readonly receiver?: Partial<ReceiverOptions>
  readonly scripts?: readonly Script[]
}

export const startPush = async (test: TestContext, options: PushOptions = {}): Promise<Pushing> => {
  const { receiver: about = {}, scripts = [], plugins = [], ...bench } = options
  const receiver = (await fakeProvider()).script(...scripts)
  test.mock.timers.enable({ apis: ['setTimeout'] })
  const receivers = [{ url: `${receiver.url}/v1/traces`, ...about }]
  const started = await startReplay({
    ...bench,
    plugins: [undici, otlpPush({ receivers, version: '1.2.3' }), ...plugins],
  })
  const pushing = new Pushing(started, receiver, test)
  test.after(async () => {
    test.mock.timers.reset()
    await started.close()
    await receiver.close()
    // sockets clear their timers as they close, by the clock under which they were set
    await rested()
  })
  return pushing
}
