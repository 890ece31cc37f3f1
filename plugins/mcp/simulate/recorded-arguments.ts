import type { Gateway } from 'guard-gateway/core'
import { isJsonObject, readJson } from '#lib/json'
import type { Arguments } from '#lib/mcp-check'
import { argumentHash, argumentKey } from '#lib/trace'
import type { AuditRow } from '../audit/tables.ts'

/** Arguments of a call as far as they are on record. */
export interface RecordedArguments {
  readonly arguments: Arguments
  readonly text: string
  /** They have the hash of the call: nothing of them is redacted or left out. */
  readonly isExact: boolean
}

type Call = Pick<AuditRow, 'argument_hash' | 'approval_id' | 'trace_id' | 'tool_call_id'>

const NONE = '{}'
const MAX_RUNS = 500
const MAX_SPANS = 2_000
/** A preview that leaves something out. */
const SHORTENED = /… \(\d+ characters\) …|… \d+ more|…$/

/**
 * Looks for the arguments of calls, of which the audit has hashes only: in approvals that are open, and in spans of their runs, where
 * `full_content_logging` keeps them. What is found counts as exact where it has the hash.
 */
export class ArgumentSource {
  readonly #gateway: Gateway
  readonly #exact = new Map<string, string>()
  readonly #runs = new Map<string, Promise<readonly SpanArguments[]>>()
  #key: string | undefined

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  async of(call: Call): Promise<RecordedArguments | undefined> {
    const { argument_hash: hash } = call
    if (hash === null) return undefined
    this.#key ??= await argumentKey(this.#gateway.storage)
    if (argumentHash(this.#key, NONE) === hash) return recorded(NONE, true)
    const known = this.#exact.get(hash)
    if (known !== undefined) return recorded(known, true)
    const texts = [...(await this.#ofApproval(call)), ...(await this.#ofRun(call))]
    const exact = texts.find((text) => argumentHash(this.#key ?? '', text) === hash)
    if (exact !== undefined) {
      this.#exact.set(hash, exact)
      return recorded(exact, true)
    }
    const [redacted] = texts
    return redacted === undefined ? undefined : recorded(redacted, false)
  }

  async #ofApproval({ approval_id: id }: Call): Promise<readonly string[]> {
    if (id === null) return []
    const { storage } = this.#gateway
    const row = await storage.get('mcp_approvals', id)
    if (row === undefined || row.preview === null) return []
    const whole = row.argument_chars === null ? undefined : await storage.get('mcp_approval_texts', id)
    if (whole !== undefined) return [whole.arguments]
    return SHORTENED.test(row.preview) ? [] : [row.preview]
  }

  /** Those of the same call by the id that its model gave it, and any that may have its hash. */
  async #ofRun({ trace_id, tool_call_id, argument_hash }: Call): Promise<readonly string[]> {
    if (trace_id === null) return []
    let found = this.#runs.get(trace_id)
    if (found === undefined) {
      if (this.#runs.size >= MAX_RUNS) return []
      found = this.#spansOf(trace_id)
      this.#runs.set(trace_id, found)
    }
    return (await found)
      .filter(
        ({ call_id, text }) =>
          (tool_call_id !== null && call_id === tool_call_id) || argumentHash(this.#key ?? '', text) === argument_hash,
      )
      .map(({ text }) => text)
  }

  async #spansOf(trace_id: string): Promise<readonly SpanArguments[]> {
    const { rows } = await this.#gateway.storage.find('spans', { where: { trace_id }, limit: MAX_SPANS })
    return rows.flatMap(({ attributes }) => {
      const attribute = attributes['gen_ai.tool.call.arguments']
      const text =
        typeof attribute === 'string' ? attribute : isJsonObject(attribute) ? JSON.stringify(attribute) : undefined
      return text === undefined ? [] : [{ call_id: attributes['gen_ai.tool.call.id'], text }]
    })
  }
}

interface SpanArguments {
  readonly call_id: unknown
  readonly text: string
}

const recorded = (text: string, isExact: boolean): RecordedArguments | undefined => {
  try {
    const value: unknown = readJson(text)
    // with every digit of integers it would be another value than the one that is judged
    return isJsonObject(value) ? { arguments: JSON.parse(text) as Arguments, text, isExact } : undefined
  } catch {
    return undefined
  }
}
