import type { ToolRecording } from 'guard-gateway/core'
import { type ToolRecord, toolRecords, toolTimes } from 'guard-gateway/lib/trace'
import { evidenceOfEvent, evidenceOfSpan } from '../failures/tags.ts'
import { NS_PER_MS } from '../time.ts'
import type { OpenRun } from '../write/open-run.ts'
import { MAX_SPANS, type RunWriter } from '../write/run-writer.ts'
import { toolWords } from '../write/search-words.ts'

/** Maximum remembered kinds of calls per run. */
const MAX_KINDS = 200

/** The fast path for tool calls that change only sums of their run. The sums are written later. */
export class ToolCalls {
  readonly #runWriter: RunWriter
  readonly #isWatched: () => boolean
  /** Per run, the kinds of calls that change only sums. */
  readonly #kinds = new WeakMap<OpenRun, Set<string>>()

  /** `isWatched`: someone subscribes to all changes of runs. */
  constructor(runWriter: RunWriter, isWatched: () => boolean) {
    this.#runWriter = runWriter
    this.#isWatched = isWatched
  }

  /** True: the record of the call is enough, and its span and event are derived from it. False: the run needs the whole call. */
  take({ record, written }: ToolRecording): boolean {
    const { runs, deferred } = this.#runWriter
    const run = record.trace_id === null ? undefined : runs.peek(record.trace_id)
    if (run === undefined || this.#isWatched() || !this.#fits(run, record)) return false
    run.addTool(record)
    run.deferredRecords.push(record)
    deferred.add(run)
    written.catch(() => {
      const at = run.deferredRecords.indexOf(record)
      if (at !== -1) run.deferredRecords.splice(at, 1)
      deferred.addForReload(run)
    })
    return true
  }

  #fits(run: OpenRun, record: ToolRecord): boolean {
    const { spans, row } = run
    const { start_ns, end_ns } = toolTimes(record)
    return (
      end_ns !== null &&
      spans.get(record.span_id ?? '') === undefined &&
      spans.size < MAX_SPANS &&
      // recovery finds outdated rows by this: the row is older than the call
      row.updated_ns < (end_ns / NS_PER_MS) * NS_PER_MS &&
      row.start_ns <= start_ns &&
      // a caller without a project says `default`, which matches every run
      (row.project_id === record.project_id || record.project_id === 'default') &&
      this.#isKnown(run, record) &&
      run.staysOk()
    )
  }

  /** True if the run already has the search words and failure evidence of such a call. */
  #isKnown(run: OpenRun, record: ToolRecord): boolean {
    const { tool, action, mode, outcome, reason_code, reason, server_id, rule_ids, transport } = record
    const { protocol_version, policy_version } = record
    if (outcome !== 'ok' || reason_code !== null) return false
    const facts = [tool, action, mode, reason, server_id, transport, protocol_version, policy_version]
    const kind = `${facts.join('\0')}\0${rule_ids?.join('\0')}`
    let kinds = this.#kinds.get(run)
    if (kinds?.has(kind) === true) return true
    for (const word of toolWords(record)) if (!run.words.has(word)) return false
    const { span, event } = toolRecords(record)
    if (evidenceOfSpan(span) !== undefined || evidenceOfEvent(event) !== undefined) return false
    if (kinds === undefined || kinds.size >= MAX_KINDS) {
      kinds = new Set()
      this.#kinds.set(run, kinds)
    }
    kinds.add(kind)
    return true
  }
}
