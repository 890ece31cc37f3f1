import { setTimeout as wait } from 'node:timers/promises'
import { LRU } from 'tiny-lru'

const MAX_ADDRESSES = 10_000
/** So many failures of an address are answered at once. */
const FREE = 5
const FIRST_MS = 250
const LONGEST_MS = 4_000
/** After so long without a failure an address begins anew. */
const FORGIVEN_MS = 60_000
/** More answers are not put off at once: waiting ones hold a connection each. */
const MAX_WAITING = 200

interface Failures {
  readonly count: number
  readonly at: number
}

/** Puts off the answers to failed attempts of an address, twice as long each time. A right key is never put off, so nobody is locked out. */
export class SlowDown {
  readonly #tick: () => number
  readonly #sleep: (ms: number) => Promise<unknown>
  readonly #failures = new LRU<Failures>(MAX_ADDRESSES)
  #waiting = 0

  /** `tick`: monotonic milliseconds. */
  constructor(
    tick: () => number,
    sleep: (ms: number) => Promise<unknown> = (ms) => wait(ms, undefined, { ref: false }),
  ) {
    this.#tick = tick
    this.#sleep = sleep
  }

  /** Notes a failure; resolves when it may be answered, with how many there were of late. */
  async failed(address: string): Promise<number> {
    const at = this.#tick()
    const before = this.#failures.get(address)
    const count = before === undefined || at - before.at > FORGIVEN_MS ? 1 : before.count + 1
    this.#failures.set(address, { count, at })
    const delay = count <= FREE ? 0 : Math.min(FIRST_MS * 2 ** (count - FREE - 1), LONGEST_MS)
    if (delay === 0 || this.#waiting >= MAX_WAITING) return count
    this.#waiting++
    try {
      await this.#sleep(delay)
    } finally {
      this.#waiting--
    }
    return count
  }
}
