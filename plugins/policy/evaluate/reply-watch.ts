import type { Call, Finding, Match, ReplyWatch, Row, TextWatch } from 'guard-gateway/core'
import type { ActiveRule, Policy } from '../policy.ts'
import { matched } from './evaluate.ts'

type Fault = (error: unknown, where: string) => void

/** Watches the reply for every rule with a stream detector; undefined if there is none. */
export const replyWatch = ({ streaming }: Policy, call: Call, row: Row, fault: Fault): ReplyWatch | undefined =>
  streaming.length === 0 ? undefined : new RuleWatch(streaming, call, row, fault)

/** The stream detector of one rule; absent after a match or a failure. */
interface RuleStream {
  readonly active: ActiveRule
  watch: TextWatch | undefined
}

class RuleWatch implements ReplyWatch {
  readonly matches: Match[] = []
  over = false
  readonly #streams: RuleStream[]
  readonly #call: Call
  readonly #row: Row
  readonly #fault: Fault

  constructor(rules: readonly ActiveRule[], call: Call, row: Row, fault: Fault) {
    this.#streams = rules.map((active) => ({ active, watch: undefined }))
    this.#call = call
    this.#row = row
    this.#fault = fault
    for (const stream of this.#streams) {
      const { detector, rule } = stream.active
      try {
        stream.watch = detector.stream?.(rule)
      } catch (error) {
        this.#detectorFailed(stream, error)
      }
    }
  }

  text(piece: string): void {
    for (const stream of this.#streams) {
      if (stream.watch === undefined) continue
      try {
        const finding = stream.watch.push(piece)
        if (finding !== undefined) this.#matchFound(stream, finding)
      } catch (error) {
        this.#detectorFailed(stream, error)
      }
    }
  }

  gap(): void {
    for (const stream of this.#streams) {
      try {
        stream.watch?.gap?.()
      } catch (error) {
        this.#detectorFailed(stream, error)
      }
    }
  }

  /** A detector that throws is not called again for this reply. */
  #detectorFailed(stream: RuleStream, error: unknown): void {
    stream.watch = undefined
    this.#fault(error, `detector:${stream.active.detector.id}`)
  }

  #matchFound(stream: RuleStream, finding: Finding): void {
    const { rule } = stream.active
    stream.watch = undefined
    this.matches.push(matched(stream.active, { where: [{ request: this.#row.id }], ...finding }))
    if (this.#call.mode === 'enforce' && rule.action === 'block' && rule.params?.cut === true) this.over = true
  }
}
