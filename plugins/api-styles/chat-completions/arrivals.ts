import { ArgumentText, type Draft } from 'guard-gateway/lib/api-style'
import { firstOf, isJsonObject, type JsonObject, jsonObjectOf, listOf, nonEmptyText } from 'guard-gateway/lib/json'

/** Places of calls in one choice of a reply. */
const SLOTS = 65_536

/** A call that is still arriving in pieces. */
interface Arriving {
  readonly id: string | null
  name: string
  readonly args: ArgumentText
}

/** Puts the calls of a stream together, each known by its choice and index, in order of appearance. */
export class Arrivals {
  readonly #draft: Draft
  readonly #calls: Arriving[] = []
  readonly #slots = new Map<number, Arriving>()

  constructor(draft: Draft) {
    this.#draft = draft
  }

  add(choice: JsonObject): void {
    const delta = jsonObjectOf(choice.delta)
    const base = (typeof choice.index === 'number' ? choice.index : 0) * SLOTS
    this.#draft.finish_reason = nonEmptyText(choice.finish_reason) ?? this.#draft.finish_reason
    for (const call of listOf(delta.tool_calls)) if (isJsonObject(call)) this.#piece(base, call)
    if (isJsonObject(delta.function_call)) this.#piece(base, { index: SLOTS - 1, function: delta.function_call })
  }

  close(): void {
    for (const { id, name, args } of this.#calls) this.#draft.calls.push({ id, tool: name, args: args.text })
    this.#calls.length = 0
  }

  #piece(base: number, call: JsonObject): void {
    const body = isJsonObject(call.function) ? call.function : jsonObjectOf(call.custom)
    const id = nonEmptyText(call.id)
    const slot = base + (typeof call.index === 'number' ? call.index : 0)
    const known = this.#slots.get(slot)
    const target =
      known === undefined || (id !== null && known.id !== null && id !== known.id) ? this.#begin(slot, id) : known
    target.name ||= nonEmptyText(body.name) ?? ''
    this.#draft.output_bytes += target.args.add(firstOf(body.arguments, body.input))
  }

  /** Some servers number all calls 0: another id at the same place begins another call. */
  #begin(slot: number, id: string | null): Arriving {
    const call = { id, name: '', args: new ArgumentText() }
    this.#slots.set(slot, call)
    this.#calls.push(call)
    return call
  }
}
