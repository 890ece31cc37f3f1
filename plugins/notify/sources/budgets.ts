import type { Gateway, Notice, Session } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'
import { type BudgetLeft, remainingShare, remainingText } from '#lib/budget'

/** In percent, the highest first. */
const LEVELS = [100, 80, 50] as const
/** How long what was used is gathered before anybody looks. */
const GATHER_MS = 1_000
/** Sessions that are looked at each time; what others use is seen when they go on. */
const MAX_SESSIONS = 200
const MAX_BUDGETS = 10_000

/** Tells of each budget that is used by 50, 80 or 100 %, each once until it starts over. */
export class BudgetWatch {
  readonly #gateway: Gateway
  readonly #used = new Map<string, Session>()
  readonly #reportedLevels = new LRU<number>(MAX_BUDGETS)
  #timer: NodeJS.Timeout | undefined
  #isLooking = false

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  begin(): void {
    this.#gateway.hooks.settle.tap('notify', ({ call: { session } }) => {
      if (session === null || this.#used.size >= MAX_SESSIONS) return
      this.#used.set(session.row.id, session)
      this.#schedule()
    })
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#used.clear()
  }

  #schedule(): void {
    if (!this.#isLooking) this.#timer ??= setTimeout(() => void this.look(), GATHER_MS).unref()
  }

  /** Looks at what the latest requests have used. Never rejects. */
  async look(): Promise<void> {
    this.#timer = undefined
    this.#isLooking = true
    const sessions = [...this.#used.values()]
    this.#used.clear()
    try {
      const rules = this.#gateway.service('rules').get()
      for (const session of sessions) for (const left of (await rules?.budgets({ session })) ?? []) this.#compare(left)
    } catch (error) {
      this.#gateway.fault(error, 'notify:budgets')
    }
    this.#isLooking = false
    if (this.#used.size > 0) this.#schedule()
  }

  #compare(budget: BudgetLeft): void {
    const used = 100 * (1 - remainingShare(budget))
    const key = keyOf(budget)
    const before = this.#reportedLevels.get(key) ?? 0
    const level = LEVELS.find((one) => used >= one) ?? 0
    // a limit that was raised lets it cross again
    if (level !== before) this.#reportedLevels.set(key, level)
    if (level > before) this.#gateway.hooks.notice.call(noticeOf(budget, level, key))
  }
}

const keyOf = ({ project_id, rule_id, agent_id, session_id, resets_at }: BudgetLeft): string =>
  JSON.stringify([project_id, rule_id, agent_id, session_id, resets_at])

const noticeOf = (budget: BudgetLeft, level: number, key: string): Notice => {
  const { rule_id, project_id, scope, agent_id, session_id } = budget
  const whose = scope === 'agent' ? ` of ${agent_id === null ? 'whoever names no agent' : `agent "${agent_id}"`}` : ''
  return {
    event: 'budget',
    subject: `${key} ${level}`,
    text: `${level} % of budget "${rule_id}"${whose} in project "${project_id}" is used: ${remainingText(budget)}.`,
    path:
      session_id === null
        ? `/policies/${encodeURIComponent(project_id)}`
        : `/sessions/${encodeURIComponent(session_id)}`,
    project_id,
  }
}
