import type { ToolCall, ToolEffect, Turn } from 'guard-gateway/core'
import { shortSha256 } from '#lib/ids'
import { resultOfCall, whilePending } from '#lib/tools'

/** A call of a turn, before its result is known. */
export interface OpenCall {
  readonly key: string
  readonly tool: string
  readonly id: string | null
  readonly effect: ToolEffect | null
}

/** An assistant turn that may still grow. */
export interface OpenTurn {
  readonly texts: string[]
  readonly calls: OpenCall[]
}

/** A turn that is complete: another item follows it. */
export interface ClosedTurn {
  readonly calls: readonly OpenCall[]
  readonly item: number
  results: Pairing[]
  /** User messages between this turn and the next. */
  users: number
  /** The turn as rules see it; null if the turn has changed since. */
  cached: Turn | null
}

/** The result of a call, by the index of the call in its turn. */
export interface Pairing {
  readonly call: number
  readonly result: string | null
  readonly error: boolean
  readonly passed: boolean
  readonly pending: boolean
  readonly notice: boolean
  readonly served: boolean
}

/** The hash of a turn. A turn of a single call has the key of that call. */
export const turnHash = ({ texts, calls }: OpenTurn): string => {
  const [first] = calls
  if (first !== undefined && calls.length === 1 && texts.length === 0) return first.key
  return shortSha256(`${texts.join(' ')}|${calls.map(({ key }) => key).join(' ')}`)
}

/** The turn as rules see it. Cached until the turn changes. */
export const asTurn = (closed: ClosedTurn): Turn => {
  closed.cached ??= makeTurn(closed)
  return closed.cached
}

const makeTurn = (closed: ClosedTurn): Turn => {
  const turn = { calls: callsOf(closed), item: closed.item, user_after: closed.users > 0 }
  return closed.results.at(-1)?.served === true ? { ...turn, served: true } : turn
}

/** The calls with their latest results, without duplicate keys, sorted by key. Most turns have one call. */
const callsOf = ({ calls, results }: ClosedTurn): ToolCall[] => {
  const [first] = calls
  if (first === undefined) return []
  if (calls.length === 1) return [withResult(first, results.at(-1))]
  const paired = new Map(results.map((pairing) => [pairing.call, pairing]))
  const distinct = new Map<string, ToolCall>()
  calls.forEach((call, index) => {
    if (!distinct.has(call.key)) distinct.set(call.key, withResult(call, paired.get(index)))
  })
  return [...distinct.values()].sort((left, right) => (left.key < right.key ? -1 : 1))
}

const withResult = ({ key, tool, id, effect }: OpenCall, pairing: Pairing | undefined): ToolCall => ({
  key,
  tool,
  id,
  result: pairing === undefined ? null : resultOfCall(key, pairing),
  error: pairing?.error === true,
  passed: pairing?.passed === true,
  effect: pairing?.pending === true ? whilePending(effect) : effect,
})
