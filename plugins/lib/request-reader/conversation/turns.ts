import type { ToolCall, ToolEffect, Turn } from 'guard-gateway/core'
import { shortSha256 } from 'guard-gateway/lib/ids'
import { whilePending } from 'guard-gateway/lib/tools'

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

/** A turn that something follows. */
export interface ClosedTurn {
  readonly calls: readonly OpenCall[]
  readonly item: number
  results: Pairing[]
  /** User messages between this turn and the next. */
  users: number
  /** As rules see it; null when something changed since. */
  made: Turn | null
}

/** The result of the call at this place of its turn. */
interface Pairing {
  readonly call: number
  readonly result: string | null
  readonly error: boolean
  readonly passed: boolean
  readonly pending: boolean
  readonly served: boolean
}

/** A turn of one call is known by its key alone. */
export const turnHash = ({ texts, calls }: OpenTurn): string => {
  const [first] = calls
  if (first !== undefined && calls.length === 1 && texts.length === 0) return first.key
  return shortSha256(`${texts.join(' ')}|${calls.map(({ key }) => key).join(' ')}`)
}

/** A turn as rules see it, made once until it changes. */
export const asTurn = (closed: ClosedTurn): Turn => {
  closed.made ??= made(closed)
  return closed.made
}

const made = (closed: ClosedTurn): Turn => {
  const turn = { calls: callsOf(closed), item: closed.item, user_after: closed.users > 0 }
  return closed.results.at(-1)?.served === true ? { ...turn, served: true } : turn
}

/** The calls with their latest results, distinct by key, sorted by key; most turns have one. */
const callsOf = ({ calls, results }: ClosedTurn): ToolCall[] => {
  const [first] = calls
  if (first === undefined) return []
  if (calls.length === 1) return [withResult(first, results.at(-1))]
  const paired = new Map(results.map((pairing) => [pairing.call, pairing]))
  const distinct = new Map<string, ToolCall>()
  calls.forEach((call, place) => {
    if (!distinct.has(call.key)) distinct.set(call.key, withResult(call, paired.get(place)))
  })
  return [...distinct.values()].sort((left, right) => (left.key < right.key ? -1 : 1))
}

const withResult = ({ key, tool, id, effect }: OpenCall, pairing: Pairing | undefined): ToolCall => ({
  key,
  tool,
  id,
  result: pairing === undefined ? null : pairing.result,
  error: pairing?.error === true,
  passed: pairing?.passed === true,
  effect: pairing?.pending === true ? whilePending(effect) : effect,
})
