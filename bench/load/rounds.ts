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
  readonly loop_delay_ms: number
  /** Chunks that passed; 0 unless the shape streams. */
  readonly chunks: number
}

export interface RoundOptions {
  /** Requests a second; absent: each connection asks again as soon as it was answered. */
  readonly rate?: number
}

/** Takes measurements one after the other; no two sets of clients ever say the same. */
export class Rounds {
  readonly #stage: Stage
  #set = 0
  /** Requests sent to the gateway so far: what its record must hold. */
  sent = 0

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** Every target once, in the order of `turn`: the one that was first is last the next time. */
  async round(shape: Shape, turn: number, options: RoundOptions = {}): Promise<readonly Sample[]> {
    const { targets } = this.#stage
    const samples: Sample[] = []
    for (let index = 0; index < targets.length; index++) {
      const target = targets[(index + turn) % targets.length]
      if (target !== undefined) samples.push(await this.sample(shape, target, options))
    }
    return samples
  }

  /** What one target uses for a shape's requests. */
  async sample(shape: Shape, { name, child, port }: Target, options: RoundOptions = {}): Promise<Sample> {
    const { provider, generator } = this.#stage
    const { requests, connections, reply } = shape
    const { rate } = options
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
    const before = await usages(child, provider)
    const result = await generator.ask('run', { set, requests, ...(rate === undefined ? {} : { rate }) })
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
