import type { ToolCall, Turn } from '../call.ts'
import { sha256 } from '../ids.ts'

/** A call of a turn, before its result is known. */
export interface OpenCall {
  readonly key: string
  readonly tool: string
  readonly id: string | null
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
  readonly results: Pairing[]
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
}

/** A turn of one call is known by its key alone. */
export const turnHash = ({ texts, calls }: OpenTurn): string => {
  const [first] = calls
  if (first !== undefined && calls.length === 1 && texts.length === 0) return first.key
  return sha256(`${texts.join(' ')}|${calls.map(({ key }) => key).join(' ')}`)
}

/** A turn as rules see it, made once until it changes. */
export const asTurn = (closed: ClosedTurn): Turn => {
  if (closed.made !== null) return closed.made
  const results = new Map(closed.results.map((pairing) => [pairing.call, pairing]))
  const calls = new Map<string, ToolCall>()
  closed.calls.forEach(({ key, tool, id }, place) => {
    const pairing = results.get(place)
    if (!calls.has(key))
      calls.set(key, { key, tool, id, result: pairing?.result ?? null, error: pairing?.error ?? false })
  })
  const sorted = [...calls.values()].sort((left, right) => (left.key < right.key ? -1 : 1))
  closed.made = { calls: sorted, item: closed.item, user_after: closed.users > 0 }
  return closed.made
}
