import type { Call, Finding, Match, ReplyWatch, Row, TextWatch } from 'guard-gateway/core'
import { matched } from './evaluate.ts'
import type { ActiveRule, Policy } from './policy.ts'

type Fault = (error: unknown, where: string) => void

/** Listens to the reply for every rule whose detector does; undefined where none does. */
export const watchFor = ({ streaming }: Policy, call: Call, row: Row, fault: Fault): ReplyWatch | undefined =>
  streaming.length === 0 ? undefined : new RuleWatch(streaming, call, row, fault)

/** One rule's observer; absent once it has spoken or failed. */
interface Observed {
  readonly active: ActiveRule
  watch: TextWatch | undefined
}

class RuleWatch implements ReplyWatch {
  readonly matches: Match[] = []
  over = false
  readonly #observed: Observed[]
  readonly #call: Call
  readonly #row: Row
  readonly #fault: Fault

  constructor(rules: readonly ActiveRule[], call: Call, row: Row, fault: Fault) {
    this.#observed = rules.map((active) => ({ active, watch: undefined }))
    this.#call = call
    this.#row = row
    this.#fault = fault
    for (const observed of this.#observed) {
      const { detector, rule } = observed.active
      try {
        observed.watch = detector.stream?.(rule)
      } catch (error) {
        this.#failed(observed, error)
      }
    }
  }

  text(piece: string): void {
    for (const observed of this.#observed) {
      if (observed.watch === undefined) continue
      try {
        const finding = observed.watch.push(piece)
        if (finding !== undefined) this.#found(observed, finding)
      } catch (error) {
        this.#failed(observed, error)
      }
    }
  }

  gap(): void {
    for (const observed of this.#observed) {
      try {
        observed.watch?.gap?.()
      } catch (error) {
        this.#failed(observed, error)
      }
    }
  }

  /** A detector that fails is not asked again for this reply. */
  #failed(observed: Observed, error: unknown): void {
    observed.watch = undefined
    this.#fault(error, `detector:${observed.active.detector.id}`)
  }

  #found(observed: Observed, finding: Finding): void {
    const { rule } = observed.active
    observed.watch = undefined
    this.matches.push(matched(observed.active, { where: [{ request: this.#row.id }], ...finding }))
    if (this.#call.mode === 'enforce' && rule.action === 'block' && rule.params?.cut === true) this.over = true
  }
}
