import { isDeepStrictEqual } from 'node:util'
import type { Registry } from 'guard-gateway/core'
import type { UpstreamClient } from '#lib/upstream-client'
import type { UpstreamOptions } from './options.ts'
import { Upstreams } from './routing.ts'
import { type Upstream, upstreamOf } from './upstream.ts'

/** Where the upstreams stand; another list there takes effect with the next request. */
export interface UpstreamsOptions {
  readonly upstreams: readonly UpstreamOptions[]
}

/** The upstreams as they are configured now. What did not change keeps its connections. */
export class LiveUpstreams {
  readonly #source: UpstreamsOptions
  readonly #clients: Registry<UpstreamClient>
  #options: readonly UpstreamOptions[]
  #upstreams: Upstreams

  constructor(source: UpstreamsOptions, clients: Registry<UpstreamClient>) {
    this.#source = source
    this.#clients = clients
    this.#options = source.upstreams
    this.#upstreams = new Upstreams(source.upstreams.map((entry) => upstreamOf(entry, clients)))
  }

  get current(): Upstreams {
    if (this.#source.upstreams !== this.#options) this.#renew(this.#source.upstreams)
    return this.#upstreams
  }

  close(): void {
    for (const { connections } of this.#upstreams.all) connections.close()
  }

  #renew(options: readonly UpstreamOptions[]): void {
    const before = this.#upstreams.all
    const unchanged = (entry: UpstreamOptions): Upstream | undefined =>
      before[this.#options.findIndex((other) => isDeepStrictEqual(other, entry))]
    const all = options.map((entry) => unchanged(entry) ?? upstreamOf(entry, this.#clients))
    this.#upstreams = new Upstreams(all)
    this.#options = options
    for (const { connections } of before.filter((upstream) => !all.includes(upstream))) connections.retire()
  }
}
