import type { Change, Gateway } from 'guard-gateway/core'
import { sha256 } from 'guard-gateway/lib/ids'
import { KeyedQueue } from 'guard-gateway/lib/keyed-queue'
import { type Exceeded, type Limits, type LimitUse, MemoryLimits, waitFor, withCall, within } from './limits.ts'
import type { LimitRow } from './tables.ts'

/** Races lost to other processes before a call is refused. */
const TRIES = 5
/** Each new count removes more than itself, so that those that are over become fewer. */
const FORGOTTEN_AT_ONCE = 4
/** The wait that a refused call reports then. */
const RETRY_MS = 1000

interface LimitState {
  readonly use: LimitUse
  readonly id: string
  readonly row: LimitRow | undefined
  readonly times: readonly number[]
}

/** Limits of sessions in memory, all others in table `mcp_limits`, which processes share. */
export class StoredLimits implements Limits {
  readonly #gateway: Gateway
  readonly #sessions: MemoryLimits
  readonly #queues = new KeyedQueue()

  constructor(gateway: Gateway) {
    this.#gateway = gateway
    this.#sessions = new MemoryLimits(() => Math.floor(gateway.clock.tick()))
  }

  async exceeded(uses: readonly LimitUse[]): Promise<readonly Exceeded[]> {
    const own = await this.#sessions.exceeded(uses.filter(isOwn))
    const at = this.#gateway.clock.now()
    const shared = await Promise.all(uses.filter(isShared).map((use) => this.#read(use, at)))
    return [...own, ...shared.flatMap((read) => full(read, at))]
  }

  async take(uses: readonly LimitUse[]): Promise<Exceeded | undefined> {
    const own = uses.filter(isOwn)
    const shared = uses.filter(isShared)
    // One at a time in this process, so that races are lost to other processes alone.
    return this.#queues.run('', async () => {
      const [first] = await this.#sessions.exceeded(own)
      return first ?? (await this.#takeShared(shared)) ?? this.#sessions.take(own)
    })
  }

  endSession(session_id: string): void {
    this.#sessions.endSession(session_id)
  }

  async #takeShared(uses: readonly LimitUse[]): Promise<Exceeded | undefined> {
    const [use] = uses
    if (use === undefined) return undefined
    for (let tried = 0; tried < TRIES; tried++) {
      const at = this.#gateway.clock.now()
      const read = await Promise.all(uses.map((use) => this.#read(use, at)))
      const [first] = read.flatMap((one) => full(one, at))
      if (first !== undefined) return first
      if (!(await this.#gateway.storage.write(read.map((one) => countedCall(one, at))))) continue
      if (read.some(({ row }) => row === undefined)) await this.#forgetOver(at)
      return undefined
    }
    return { use, wait_ms: RETRY_MS }
  }

  /** Removes some counts that are over: callers may come under ever new names. */
  async #forgetOver(at: number): Promise<void> {
    const { storage } = this.#gateway
    const { rows } = await storage.find('mcp_limits', { where: { until: { lt: at } }, limit: FORGOTTEN_AT_ONCE })
    for (const { id, version } of rows)
      await storage.write([
        { table: 'mcp_limits', key: id, patch: { version }, expected: { version } },
        { table: 'mcp_limits', key: id, remove: true },
      ])
  }

  async #read(use: LimitUse, at: number): Promise<LimitState> {
    const id = sha256(JSON.stringify([use.rule_id, use.kind, use.key]))
    const row = await this.#gateway.storage.get('mcp_limits', id)
    return { use, id, row, times: within(row?.times ?? [], use, at) }
  }
}

const isShared = ({ kind }: LimitUse): boolean => kind !== 'session'
const isOwn = (use: LimitUse): boolean => !isShared(use)

const full = ({ use, times }: LimitState, at: number): readonly Exceeded[] => {
  const wait_ms = waitFor(times, use, at)
  return wait_ms === 0 ? [] : [{ use, wait_ms }]
}

const countedCall = ({ use, id, row, times }: LimitState, at: number): Change => {
  const next = withCall(times, at)
  const until = (next.at(-1) ?? at) + use.per_ms
  if (row === undefined) return { table: 'mcp_limits', put: { id, version: 1, times: next, until }, when: 'absent' }
  const { version } = row
  return { table: 'mcp_limits', key: id, patch: { version: version + 1, times: next, until }, expected: { version } }
}
