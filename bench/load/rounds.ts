import type { RunResult } from './generator.ts'
import type { Usage } from './measure.ts'
import type { Shape } from './shapes.ts'
import { KEY, type Stage, type Target } from './targets.ts'

/** One target under one shape in one round. */
export interface Sample extends RunResult {
  readonly target: Target['name']
  readonly cpu_us: number
  readonly threads_us: Readonly<Record<string, number>>
  readonly provider_cpu_us: number
  readonly rss_bytes: number
  /** 99th percentile of this and all samples before it. */
  readonly loop_delay_ms: number
  /** Chunks that passed; 0 unless the shape streams. */
  readonly chunks: number
}

export interface RoundOptions {
  /** Requests a second; absent: each connection asks again as soon as it was answered. */
  readonly rate?: number
  /** How many requests; absent: a round's. */
  readonly requests?: number
}

/** How often targets take turns within a round. */
const TURNS = 4

/** Takes measurements one after the other; no two sets of clients ever say the same. */
export class Rounds {
  readonly #stage: Stage
  #set = 0
  /** Requests sent to the gateway so far: what its record must hold. */
  sent = 0

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** What was seen of event loops until now does not count. */
  async begin(): Promise<void> {
    for (const { child } of this.#stage.targets) await child.ask('watch', 'anew')
  }

  /**
   * Every target, in the order of `turn`: the one that was first is last the next time. They take turns every quarter of a round, since
   * the machine may be another from second to second; streams, sessions well in progress and fixed rates are not cut.
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
    const { targets } = this.#stage
    const first = turn % targets.length
    return [...targets.slice(first), ...targets.slice(0, first)]
  }

  /** What one target uses for a shape's requests. */
  async sample(shape: Shape, { name, child, port }: Target, options: RoundOptions = {}): Promise<Sample> {
    const { provider, generator } = this.#stage
    const { connections, reply } = shape
    const { rate, requests = shape.requests } = options
    const set = this.#set++
    await provider.ask('plan', { reply })
    const opened = await generator.ask('open', {
      shape: shape.id,
      reply,
      port,
      key: KEY,
      set,
      connections,
    })
    await child.ask('watch', 'on')
    const before = await usages(child, provider)
    const result = await generator.ask('run', { set, requests, ...(rate === undefined ? {} : { rate }) })
    await child.ask('watch', 'off')
    const after = await usages(child, provider)
    await generator.ask('close', { set })
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
  own: await child.ask('usage', null),
  provider: await provider.ask('usage', null),
})

/** Threads that ended in between count for what they used until they were last seen. */
const difference = (
  after: Readonly<Record<string, number>>,
  before: Readonly<Record<string, number>>,
): Record<string, number> =>
  Object.fromEntries(Object.entries(after).map(([name, us]) => [name, Math.max(0, us - (before[name] ?? 0))]))
