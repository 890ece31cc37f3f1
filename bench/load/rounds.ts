import { KEY } from './gateway-process.ts'
import type { RunResult } from './generator.ts'
import type { Usage } from './measure.ts'
import type { Shape } from './shapes.ts'
import type { LoadSetup, Target } from './targets.ts'

/** The measurement of one target with one shape in one round. */
export interface Sample extends RunResult {
  readonly target: Target['name']
  readonly cpu_us: number
  readonly threads_us: Readonly<Record<string, number>>
  readonly provider_cpu_us: number
  readonly rss_bytes: number
  /** 99th percentile of the event-loop delay since the last reset. */
  readonly loop_delay_ms: number
  /** Chunks that passed. 0 unless the shape streams. */
  readonly chunks: number
}

export interface RoundOptions {
  /** Requests per second. Absent: each connection sends its next request after the previous response. */
  readonly rate?: number
  /** Number of requests. Default: those of one round of the shape. */
  readonly requests?: number
}

/** Parts of a round. The targets alternate after each part. */
const TURNS = 4

/** Takes one measurement at a time. No two sets of clients send equal conversations. */
export class Rounds {
  readonly #setup: LoadSetup
  #set = 0
  /** Requests sent to the gateway so far. Its database must contain as many records. */
  sent = 0

  constructor(setup: LoadSetup) {
    this.#setup = setup
  }

  /** Clears the event-loop histograms. */
  async begin(): Promise<void> {
    for (const { child } of this.#setup.targets) await child.request('watch', 'anew')
  }

  /**
   * Measures every target. `turn` rotates the order of the targets. They alternate four times per round, because the
   * speed of the machine varies from second to second. Streams, opened sessions and fixed rates are measured in one
   * part.
   */
  async round(shape: Shape, turn: number, options: RoundOptions = {}): Promise<readonly Sample[]> {
    const whole = shape.reply.stream !== undefined || shape.opened || options.rate !== undefined
    const turns = whole ? 1 : TURNS
    const requests = Math.ceil(shape.requests / turns)
    const samples: Sample[] = []
    for (let at = 0; at < turns; at++)
      for (const target of this.#inTurn(turn + at))
        samples.push(await this.sample(shape, target, { ...options, requests }))
    return samples
  }

  #inTurn(turn: number): readonly Target[] {
    const { targets } = this.#setup
    const first = turn % targets.length
    return [...targets.slice(first), ...targets.slice(0, first)]
  }

  /** Measures one target with the requests of a shape. */
  async sample(shape: Shape, { name, child, port }: Target, options: RoundOptions = {}): Promise<Sample> {
    const { provider, generator } = this.#setup
    const { connections, reply } = shape
    const { rate, requests = shape.requests } = options
    const set = this.#set++
    await provider.request('plan', { reply })
    const opened = await generator.request('open', {
      shape: shape.id,
      reply,
      ports: [port],
      key: KEY,
      set,
      connections,
    })
    await child.request('watch', 'on')
    const before = await usages(child, provider)
    const result = await generator.request('run', { set, requests, ...(rate === undefined ? {} : { rate }) })
    await child.request('watch', 'off')
    const after = await usages(child, provider)
    await generator.request('close', { set })
    if (name === 'gateway') this.sent += opened.sent + requests
    return {
      ...result,
      target: name,
      cpu_us: after.own.cpu_us - before.own.cpu_us,
      threads_us: difference(after.own.threads_us, before.own.threads_us),
      provider_cpu_us: after.provider.cpu_us - before.provider.cpu_us,
      rss_bytes: after.own.rss_bytes,
      loop_delay_ms: after.own.loop_delay_ms,
      chunks: (shape.reply.stream?.chunks ?? 0) * requests,
    }
  }
}

const usages = async (child: Target['child'], provider: Target['child']): Promise<{ own: Usage; provider: Usage }> => ({
  own: await child.request('usage', null),
  provider: await provider.request('usage', null),
})

/** Threads that ended in between count with their last seen usage. */
const difference = (
  after: Readonly<Record<string, number>>,
  before: Readonly<Record<string, number>>,
): Record<string, number> =>
  Object.fromEntries(Object.entries(after).map(([name, us]) => [name, Math.max(0, us - (before[name] ?? 0))]))
