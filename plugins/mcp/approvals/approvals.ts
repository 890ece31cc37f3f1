import {
  type Change,
  type Clock,
  type Found,
  type Gateway,
  GuardError,
  type SpanDraft,
  timeSince,
  type Where,
} from 'guard-gateway/core'
import { LRU } from 'tiny-lru'
import { KeyedQueue } from '#lib/keyed-queue'
import { type ApprovalPart, type Audit, auditedEvent, waitSpan, waitSpanId } from '../audit/index.ts'
import { approvalNotice, argumentChars, openKey, pendingApproval, type Question, textsOf } from './question.ts'
import type { ApprovalRow } from './tables.ts'

const ATTEMPTS = 5
const SWEEP_MS = 30_000
const SWEEP_ROWS = 200
/** How long an approval for a session is good at most. */
export const SESSION_SCOPE_MS = 8 * 3_600_000

export interface ApprovalOptions {
  /** How long a question waits for its decision, and a decision for the retry, in milliseconds. */
  readonly timeout_ms: number
  /** Keep previews when they are not needed any more. */
  readonly full_content_logging: boolean
}

/** The state of consent to a call. */
export interface Consent {
  /** `granted`: forward it; `asked`: a person has been asked, now or before; `denied`: somebody said no. */
  readonly state: 'granted' | 'asked' | 'denied'
  readonly approval: ApprovalRow
  /** What commits with the record of the call. */
  readonly part: ApprovalPart
}

/** Puts the record of a call and the approval's part in it into storage; false: the approval has changed meanwhile. */
export type Commit = (decided: Consent) => Promise<boolean>

/** Consent of people to single calls: asked for, given, and used exactly once. */
export class Approvals {
  readonly options: ApprovalOptions
  readonly #gateway: Gateway
  readonly #audit: Audit
  readonly #deadlines: Deadlines
  readonly #queues = new KeyedQueue()
  #timer: NodeJS.Timeout | undefined

  constructor(gateway: Gateway, audit: Audit, options: ApprovalOptions) {
    this.#gateway = gateway
    this.#audit = audit
    this.options = options
    this.#deadlines = new Deadlines(gateway.clock)
  }

  /** Starts to write expired approvals to storage every 30 s. */
  begin(): void {
    this.#timer ??= setInterval(() => void this.sweep(), SWEEP_MS).unref()
  }

  end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /**
   * Finds or requests the approval of a call, and `commit` records it: a grant counts only once that is done.
   * One call of a binding at a time. Throws STORAGE_BUSY if others change the approval again and again, and what `commit` throws.
   */
  decide(question: Question, commit: Commit): Promise<Consent> {
    const key = openKey(question)
    return this.#queues.run(key, async () => {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const decided = await this.#meet(question, key)
        if (!(await commit(decided))) continue
        const { approval } = decided
        if (approval.status === 'consumed') this.#deadlines.forget(approval.id)
        // what was asked before brings no change
        if (decided.state === 'asked' && decided.part.changes.length > 0)
          this.#gateway.hooks.notice.call(approvalNotice(approval))
        return decided
      }
      throw new GuardError('STORAGE_BUSY', 'The approval of this call changed again and again. Repeat the call.')
    })
  }

  async #meet(question: Question, key: string): Promise<Consent> {
    const row = await this.#open(key)
    if (row === undefined) return this.#ask(question)
    const stale = this.#staleness(row, question)
    if (stale !== undefined) {
      await this.#expire(row, stale)
      return this.#ask(question)
    }
    if (row.status === 'allowed') return this.#grant(row)
    return { state: row.status === 'denied' ? 'denied' : 'asked', approval: row, part: partOf(row, []) }
  }

  async #open(open_key: string): Promise<ApprovalRow | undefined> {
    const { rows } = await this.#gateway.storage.find('mcp_approvals', { where: { open_key }, limit: 1 })
    return rows[0]
  }

  /** Why an open approval does not count for this call; undefined: it does. */
  #staleness(row: ApprovalRow, question: Question): string | undefined {
    if (this.#deadlines.isOver(row)) return 'timeout'
    if (row.tool_fingerprint !== question.tool_fingerprint) return 'tool_changed'
    // consent to one rule is no consent to another one
    if (!question.rule_ids.every((id) => row.rule_ids.includes(id))) return 'rules_changed'
    // nor is a yes to what was shown one to what another transform makes of it
    const isSameCall = row.status === 'denied' || row.sent_argument_hash === (question.sent_argument_hash ?? null)
    return isSameCall ? undefined : 'transform_changed'
  }

  #ask(question: Question): Consent {
    const { clock, redact } = this.#gateway
    const short = pendingApproval(question, clock.now(), this.options.timeout_ms, redact)
    const texts = textsOf(question, short, redact)
    const approval = texts === undefined ? short : { ...short, argument_chars: argumentChars(texts) }
    // its time starts to run by the monotonic clock, too
    this.#deadlines.isOver(approval)
    const changes: Change[] = [{ table: 'mcp_approvals', put: approval, when: 'absent' }]
    if (texts !== undefined) changes.push({ table: 'mcp_approval_texts', put: texts })
    const spans = [waitSpan(approval.id, question.entry, approval.created_at)]
    return { state: 'asked', approval, part: { approval_id: approval.id, changes, spans } }
  }

  #grant(row: ApprovalRow): Consent {
    const used_count = row.used_count + 1
    const now = this.#gateway.clock.now()
    const used: Partial<ApprovalRow> =
      row.scope === 'session' ? { used_count } : { used_count, status: 'consumed', consumed_at: now, ...this.#over() }
    // another use at the same time fails this condition
    const expected = { status: 'allowed', used_count: row.used_count, expires_at: row.expires_at } as const
    const change: Change = { table: 'mcp_approvals', key: row.id, sync: true, patch: used, expected }
    const changes = used.status === 'consumed' ? [change, ...withoutTexts(row)] : [change]
    return { state: 'granted', approval: { ...row, ...used }, part: partOf(row, changes) }
  }

  /** Fields that are cleared when an approval is over. */
  #over(): Partial<ApprovalRow> {
    return { open_key: null, ...this.hidden() }
  }

  /** Whether the time of an approval is over; its row may not say so yet. */
  isOver(row: ApprovalRow): boolean {
    return isOpen(row) && this.#deadlines.isOver(row)
  }

  /** Takes a decision's changes in one step with its record. Rejects with STORAGE_BUSY if the approval has changed meanwhile. */
  async settle(row: ApprovalRow, patch: Partial<ApprovalRow>, reason: string | null): Promise<void> {
    const allowed = patch.status === 'allowed'
    await changeApproval(this.#gateway, this.#audit, row, allowed ? patch : { ...patch, ...this.hidden() }, {
      name: `approval.${patch.status ?? row.status}`,
      waited: allowed ? 'ok' : 'error',
      waited_until: this.#deadlines.waitedUntil(row),
      reason,
    })
  }

  /** Takes an allowance back in one step with its record: unused, its question waits again. Rejects with STORAGE_BUSY if the approval has changed meanwhile. */
  async revoke(row: ApprovalRow, via: string): Promise<void> {
    const expires_at = this.#gateway.clock.now() + this.options.timeout_ms
    const patch: Partial<ApprovalRow> =
      row.used_count === 0
        ? { status: 'pending', scope: 'once', decided_at: null, decided_via: null, reason: null, expires_at }
        : { status: 'expired', reason: 'taken_back', ...this.#over() }
    const reason = `Taken back through ${via}.`
    const waited_until = this.#deadlines.waitedUntil(row)
    const record = { name: 'approval.undone', waited: undefined, waited_until, reason } as const
    await changeApproval(this.#gateway, this.#audit, row, patch, record)
    this.#deadlines.forget(row.id)
  }

  /** What shows arguments of an approval, gone once it is over: the words of rules hold some, too. */
  hidden(): Partial<ApprovalRow> {
    return this.options.full_content_logging ? {} : { preview: null, sent_preview: null, message: null }
  }

  /** The session has ended: nothing of it can be decided or used any more. */
  expireSession(session_id: string): Promise<void> {
    return this.#expireAll({ session_id }, () => 'session_ended')
  }

  /** The tools of a server were listed to these sessions: their consent to definitions other than those is void. */
  expireTools(
    server_id: string,
    isListed: (session_id: string) => boolean,
    fingerprintOf: (tool: string) => string | null,
  ): Promise<void> {
    return this.#expireAll({ server_id }, ({ session_id, tool, tool_fingerprint }) =>
      isListed(session_id) && tool_fingerprint !== fingerprintOf(tool) ? 'tool_changed' : undefined,
    )
  }

  /** Writes expired approvals to storage; a write that fails is a fault, and is tried again the next time. */
  async sweep(): Promise<void> {
    try {
      await this.#expireAll({}, (row) => (this.#deadlines.isOver(row) ? 'timeout' : undefined))
    } catch (error) {
      this.#gateway.fault(error, 'mcp:approvals')
    }
  }

  async #expireAll(
    where: { readonly session_id?: string; readonly server_id?: string },
    why: (row: ApprovalRow) => string | undefined,
  ): Promise<void> {
    for (const status of ['pending', 'allowed', 'denied'] as const) {
      for await (const row of this.#rows({ ...where, status })) {
        const reason = why(row)
        if (reason !== undefined) await this.#expire(row, reason)
      }
    }
  }

  async *#rows(where: Where<ApprovalRow>): AsyncGenerator<ApprovalRow> {
    let cursor: string | null = null
    do {
      const page: Found<ApprovalRow> = await this.#gateway.storage.find('mcp_approvals', {
        where,
        order: ['expires_at', 'asc'],
        limit: SWEEP_ROWS,
        ...(cursor === null ? {} : { cursor }),
      })
      yield* page.rows
      cursor = page.next_cursor
    } while (cursor !== null)
  }

  /** Ends an open approval, unless another process has changed it. */
  async #expire(row: ApprovalRow, reason: string): Promise<void> {
    const waited_until = this.#deadlines.waitedUntil(row)
    this.#deadlines.forget(row.id)
    const waited = row.status === 'pending' ? 'cancelled' : undefined
    try {
      const patch = { status: 'expired', reason: row.reason ?? reason, ...this.#over() } as const
      const record = { name: 'approval.expired', waited, waited_until, reason } as const
      await changeApproval(this.#gateway, this.#audit, row, patch, record)
    } catch (error) {
      if (!(error instanceof GuardError) || error.code !== 'STORAGE_BUSY') throw error
    }
  }
}

/** Whether an approval can still be decided or used, but for its time. */
export const isOpen = ({ status }: ApprovalRow): boolean =>
  status === 'pending' || status === 'allowed' || status === 'denied'

const partOf = ({ id }: ApprovalRow, changes: readonly Change[]): ApprovalPart => ({
  approval_id: id,
  changes,
  spans: [],
})

const MAX_KNOWN = 10_000

/** When the state of an approval was first seen, and until when it lasts by the monotonic clock. */
interface KnownDeadline {
  readonly expires_at: number
  readonly at: number
  readonly tick: number
  readonly until: number
}

/** Ends what is open also by the monotonic clock: setting the wall clock back gives no approval more time. */
class Deadlines {
  readonly #clock: Clock
  readonly #known = new LRU<KnownDeadline>(MAX_KNOWN)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether the time of an open approval is over, by either clock. */
  isOver(row: ApprovalRow): boolean {
    const now = this.#clock.now()
    if (row.expires_at <= now) return true
    const name = `${row.id} ${row.status}`
    const known = this.#known.get(name)
    // a question that waits again has a time of its own
    if (known?.expires_at === row.expires_at) return this.#clock.tick() >= known.until
    // what was written on another clock lasts no longer than it was meant to from now on
    const span = row.expires_at - (row.decided_at ?? row.created_at)
    const tick = this.#clock.tick()
    const { expires_at } = row
    this.#known.set(name, { expires_at, at: now, tick, until: tick + Math.min(span, expires_at - now) })
    return false
  }

  /** The time at which the waiting for an answer ends, now; counted from its beginning by the monotonic clock where that was seen. */
  waitedUntil({ id, created_at }: ApprovalRow): number {
    const known = this.#known.get(`${id} pending`)
    return Math.max(created_at, known === undefined ? this.#clock.now() : timeSince(this.#clock, known))
  }

  forget(id: string): void {
    for (const status of ['pending', 'allowed', 'denied']) this.#known.delete(`${id} ${status}`)
  }
}

/** What a change of an approval writes to Replay and to the audit. */
interface ApprovalChange {
  /** `approval.allowed`, `approval.denied`, `approval.expired`. */
  readonly name: string
  /** Status of the span that shows the waiting; undefined where it has ended before. */
  readonly waited: 'ok' | 'error' | 'cancelled' | undefined
  /** When the waiting ended, milliseconds since 1970, not before it started. */
  readonly waited_until: number
  readonly reason: string | null
}

/** The whole arguments go when an approval is over. */
const withoutTexts = ({ id }: ApprovalRow): readonly Change[] => [
  { table: 'mcp_approval_texts', key: id, remove: true },
]

/**
 * Changes an approval that is as `row` says, together with its record and the end of its waiting.
 * Rejects with STORAGE_BUSY, nothing written, if it has changed meanwhile.
 */
const changeApproval = (
  gateway: Gateway,
  audit: Audit,
  row: ApprovalRow,
  patch: Partial<ApprovalRow>,
  { name, waited, waited_until, reason }: ApprovalChange,
): Promise<void> => {
  const now = gateway.clock.now()
  const spans: readonly SpanDraft[] =
    waited === undefined
      ? []
      : [
          {
            id: waitSpanId(row.id),
            name: 'approval.wait',
            status: waited,
            status_message: reason,
            end_ns: BigInt(waited_until) * 1_000_000n,
          },
        ]
  const { status, used_count, expires_at } = row
  const expected = { status, used_count, expires_at }
  const recorded = auditedEvent(row, { kind: 'approval', name, ...(reason === null ? {} : { reason }) }, now)
  return audit.write(
    {
      origin: 'mcp',
      run: { trace_id: row.trace_id, default_project_id: row.project_id },
      spans,
      events: [],
      rows: [
        { table: 'mcp_approvals', key: row.id, sync: true, patch, expected },
        { table: 'mcp_audit', put: recorded },
        ...(patch.status === 'denied' || patch.status === 'expired' ? withoutTexts(row) : []),
      ],
      whole: false,
      conditional: true,
    },
    true,
  )
}
