import type { Call, Change, Plugin, Session, SessionRow, Settled } from 'guard-gateway/core'
import { noUsage } from 'guard-gateway/core'
import { type FakeClock, fakeClock } from '../../kit/clock.ts'
import { aCall, aDecision, aSession, blocked, NOON, settled } from '../../kit/settled.ts'
import { type Bench, present, startBench } from './kit.ts'

/** A write, and the requests of each session that have not ended when it is made. */
export interface Written {
  readonly batch: readonly Change[]
  readonly open: ReadonlyMap<string, number>
}

const TOTALS = [
  'requests',
  'blocked',
  'flagged',
  'errors',
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cost_micro',
] as const
export const totalsOf = (row: SessionRow) => TOTALS.map((name) => row[name])

/** What becomes of a request. */
export type Kind = 'allow' | 'flag' | 'error' | 'block'
const COST = { cost_micro: 7, cost_source: 'priced', price_version: 'p1' } as const

/** A process that takes requests: what sessions and policy do with a session's row is done here. */
export class Requests {
  readonly clock: FakeClock = fakeClock(NOON)
  bench!: Bench
  written: Written[] = []
  readonly #open = new Map<string, number>()
  #count = 0

  async start(plugins: readonly Plugin[] = []): Promise<void> {
    this.bench = await startBench({ clock: this.clock, plugins })
    const { storage } = this.bench.gateway
    const { write } = storage
    storage.write = (batch, options) => {
      // rows are those that the process goes on with
      this.written.push({ batch: structuredClone(batch), open: new Map(this.#open) })
      return write(batch, options)
    }
  }

  #opened(id: string, more: number): void {
    this.#open.set(id, (this.#open.get(id) ?? 0) + more)
  }

  /** A request arrives and is decided about; the function returned ends it. */
  begin(session: Session, kind: Kind = 'allow'): () => Promise<void> {
    const call = aCall({ id: `guardreq_${++this.#count}`, at: this.clock.now(), session })
    const { row } = session
    session.open++
    this.#opened(row.id, 1)
    if (kind === 'block') row.blocked++
    else row.requests++
    row.last_seen_at = Math.max(row.last_seen_at, call.at)
    if (kind === 'flag') row.flagged++
    return async () => {
      const ended_at = this.clock.now()
      row.last_seen_at = Math.max(row.last_seen_at, ended_at)
      this.#opened(row.id, -1)
      await this.bench.settle({ ...(kind === 'block' ? refused(call) : answered(call, kind)), ended_at })
      session.open--
    }
  }

  async one(session: Session, kind?: Kind): Promise<void> {
    const end = this.begin(session, kind)
    this.clock.advance(5)
    await end()
  }

  /** Tables of the writes since it was asked last, but for the sums that go with every call. */
  tables(): readonly string[] {
    return this.written
      .splice(0)
      .map(({ batch }) => batch.flatMap(({ table }) => (table === 'calls_by_hour' ? [] : table)).join())
  }

  async stored(id = 'ses_a'): Promise<SessionRow> {
    return present(await this.bench.gateway.storage.get('sessions', id))
  }
}

export const fresh = (id = 'ses_a'): Session => ({ ...aSession({ id, requests: 0 }), open: 0 })

const refused = (call: Call): Settled => ({ ...blocked(call), usage: noUsage })

/** Counts the reply in the totals of its session. */
const answered = (call: Call, kind: Kind): Settled => {
  const decision = aDecision({ decision: kind === 'flag' ? 'shadow_flag' : 'allow' })
  const outcome = kind === 'error' ? 'upstream_error' : 'ok'
  const { row } = present(call.session)
  if (kind === 'error') row.errors++
  row.input_tokens += 20
  row.output_tokens += 10
  row.total_tokens += 30
  row.cost_micro += COST.cost_micro
  return { ...settled({ call, decision, outcome }), cost: COST }
}
