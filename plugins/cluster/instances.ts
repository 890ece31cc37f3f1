import { hostname } from 'node:os'
import type { Gateway } from 'guard-gateway/core'
import { newId, writer } from '#lib/ids'
import { instanceFactKind } from '#lib/session'
import type { InstanceRow } from './tables.ts'

/** A process that has not counted on for so long is dead. */
export const DEAD_MS = 6_000
/** Who has not looked for so long cannot tell that others did not count: the database was away for all of them. */
const GAP_MS = 2_500
const MOST_INSTANCES = 1_000
const LEASE = 'upkeep'

/** What was last seen of another process. */
interface Seen {
  readonly beats: number
  /** Monotonic milliseconds. */
  readonly tick: number
}

/** The processes that use the storage: counts on for this one, finds those that have died, and ends what they left open. */
export class Instances {
  readonly #gateway: Gateway
  readonly #version: string
  readonly #ended: ((instance: string) => Promise<void>)[] = []
  readonly #seen = new Map<string, Seen>()
  #rows: readonly InstanceRow[] = []
  #id = ''
  #beats = 0
  /** When it last looked at the others, monotonic milliseconds. */
  #looked = Number.NEGATIVE_INFINITY
  #leads = false

  /** It can do what one of all does. */
  mayLead = true

  constructor(gateway: Gateway, version: string) {
    this.#gateway = gateway
    this.#version = version
  }

  get id(): string {
    return this.#id
  }

  get leads(): boolean {
    return this.#leads
  }

  /** Those that were alive at the last look. */
  get alive(): readonly InstanceRow[] {
    return this.#rows.filter((row) => row.ended_by === null && !this.#isDead(row))
  }

  onEnded(listener: (instance: string) => Promise<void>): void {
    this.#ended.push(listener)
  }

  async register(): Promise<void> {
    const started_at = this.#gateway.clock.now()
    this.#id = newId('inst_', started_at)
    this.#beats = 1
    await this.#gateway.storage.put('instances', {
      id: this.#id,
      host: hostname(),
      pid: process.pid,
      version: this.#version,
      process: writer,
      facts: await this.#facts(),
      started_at,
      beats: 1,
      ended_by: null,
    })
  }

  /** Counts on, looks at the others, and takes over what nobody holds. False: this process was taken for dead, and goes on under a new id. */
  async beat(): Promise<boolean> {
    const { storage } = this.#gateway
    const beats = this.#beats + 1
    const changes = { beats, facts: await this.#facts() }
    const isAlive = await storage.patch('instances', this.#id, changes, { ended_by: null })
    if (isAlive) this.#beats = beats
    else await this.register()
    await this.#look()
    if (this.mayLead) await this.#lease()
    for (const row of this.#rows) if (row.id !== this.#id && this.#isLeft(row)) await this.#end(row)
    return isAlive
  }

  /** Whether no living process is called that. It is read anew: one that has just begun is alive. */
  async hasDied(process: string): Promise<boolean> {
    const { rows } = await this.#gateway.storage.find('instances', { limit: MOST_INSTANCES })
    return !rows.some((row) => row.process === process && row.ended_by === null && !this.#isDead(row))
  }

  /** Leaves at once, so that others need not wait; not if calls are still open, which others then end. */
  async leave(): Promise<void> {
    const { storage } = this.#gateway
    const open = await storage.find('open_calls', { where: { instance: this.#id }, limit: 1 })
    if (open.rows.length === 0) await storage.write([{ table: 'instances', key: this.#id, remove: true }])
  }

  async #facts(): Promise<Record<string, string | null>> {
    const facts: Record<string, string | null> = {}
    for (const fact of this.#gateway.registry(instanceFactKind)) facts[fact.id] = await fact.value()
    return facts
  }

  async #look(): Promise<void> {
    const { rows } = await this.#gateway.storage.find('instances', { limit: MOST_INSTANCES })
    const tick = this.#gateway.clock.tick()
    if (tick - this.#looked > GAP_MS) this.#seen.clear()
    this.#looked = tick
    const known = new Set(rows.map(({ id }) => id))
    for (const id of this.#seen.keys()) if (!known.has(id)) this.#seen.delete(id)
    for (const { id, beats } of rows) if (this.#seen.get(id)?.beats !== beats) this.#seen.set(id, { beats, tick })
    this.#rows = rows
  }

  #isDead({ id }: Pick<InstanceRow, 'id'>): boolean {
    const seen = this.#seen.get(id)
    return seen !== undefined && this.#gateway.clock.tick() - seen.tick >= DEAD_MS
  }

  /** It is dead, and nobody who is alive ends what it left. */
  #isLeft(row: InstanceRow): boolean {
    if (row.ended_by === null) return this.#isDead(row)
    return row.ended_by === this.#id || !this.alive.some(({ id }) => id === row.ended_by)
  }

  async #end({ id, beats, ended_by }: InstanceRow): Promise<void> {
    const { storage } = this.#gateway
    const isMine =
      ended_by === this.#id ||
      (await storage.patch(
        'instances',
        id,
        { ended_by: this.#id },
        ended_by === null ? { beats, ended_by } : { ended_by },
      ))
    if (!isMine) return
    for (const end of this.#ended) await end(id)
    await storage.write([{ table: 'instances', key: id, remove: true }])
  }

  async #lease(): Promise<void> {
    const { storage } = this.#gateway
    const held = await storage.get('leases', LEASE)
    if (held === undefined) {
      this.#leads = await storage.put('leases', { id: LEASE, holder: this.#id }, 'absent')
      return
    }
    const { holder } = held
    const isFree = holder !== this.#id && !this.alive.some(({ id }) => id === holder)
    this.#leads =
      holder === this.#id || (isFree && (await storage.patch('leases', LEASE, { holder: this.#id }, { holder })))
  }
}
