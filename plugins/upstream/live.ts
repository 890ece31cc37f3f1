import type { Agent } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { type Upstream, upstreamOf } from './destination.ts'
import type { UpstreamOptions } from './options.ts'
import { Upstreams } from './routing.ts'

/** Where the upstreams stand; another list there takes effect with the next request. */
export interface UpstreamsOptions {
  readonly upstreams: readonly UpstreamOptions[]
}

/** The upstreams as they are configured now. What did not change keeps its connections. */
export class LiveUpstreams {
  readonly #source: UpstreamsOptions
  #options: readonly UpstreamOptions[]
  #upstreams: Upstreams

  constructor(source: UpstreamsOptions) {
    this.#source = source
    this.#options = source.upstreams
    this.#upstreams = new Upstreams(source.upstreams.map(upstreamOf))
  }

  get current(): Upstreams {
    if (this.#source.upstreams !== this.#options) this.#renew(this.#source.upstreams)
    return this.#upstreams
  }

  close(): void {
    for (const { agent } of this.#upstreams.all) agent.destroy()
  }

  #renew(options: readonly UpstreamOptions[]): void {
    const before = this.#upstreams.all
    const kept = (entry: UpstreamOptions): Upstream | undefined =>
      before[this.#options.findIndex((other) => isDeepStrictEqual(other, entry))]
    const all = options.map((entry) => kept(entry) ?? upstreamOf(entry))
    this.#upstreams = new Upstreams(all)
    this.#options = options
    for (const { agent } of before.filter((upstream) => !all.includes(upstream))) retire(agent)
  }
}

/** Closes what is idle now, and the rest when its replies have ended. */
const retire = (agent: Agent): void => {
  agent.maxFreeSockets = 0
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
}
