import type { CallTrace } from 'guard-gateway/core'
import type { CallRecord, ToolRecord } from 'guard-gateway/lib/trace'
import type { EventRow, RunRow, SpanRow } from '../tables.ts'
import {
  addCallAttributes,
  addCallWords,
  addEventWords,
  addSpanWords,
  runWords,
  storedWords,
  toolWords,
} from './search-words.ts'
import { type CallFacts, factsOf, sameFacts } from './sum-only-calls.ts'

/** The search words of a run: its own, and those of its records. */
export class RunWords {
  /** Words of the run itself; a change replaces the list. */
  own: readonly string[]
  readonly #records = new Set<string>()
  /** Facts of the last request whose attributes are among the words. */
  #indexed: CallFacts | undefined

  constructor(row: RunRow) {
    this.own = runWords(row)
  }

  /** Number of words of the records. */
  get size(): number {
    return this.#records.size
  }

  /** True for a word of the records. */
  has(word: string): boolean {
    return this.#records.has(word)
  }

  addSpan(span: SpanRow): void {
    addSpanWords(this.#records, span)
  }

  addEvent(event: EventRow): void {
    addEventWords(this.#records, event)
  }

  addCall(call: CallRecord, trace: CallTrace, redact: (text: string) => string): void {
    addCallWords(this.#records, call, redact)
    if (this.#indexed !== undefined && sameFacts(call, this.#indexed)) return
    addCallAttributes(this.#records, call, trace)
    this.#indexed = factsOf(call)
  }

  addTool(record: ToolRecord): void {
    for (const word of toolWords(record)) this.#records.add(word)
  }

  /** Takes over the fields of the run itself. */
  describe(row: RunRow): void {
    const words = runWords(row)
    if (words.join(' ') !== this.own.join(' ')) this.own = words
  }

  /** All words, as they are stored. */
  all(): string[] {
    return storedWords(this.own, this.#records)
  }
}
