import type { Chain, Conversation, ToolCall, Turn, TurnContent } from 'guard-gateway/core'
import { sha256 } from '#lib/ids'
import { argumentText, calledTool, callKey } from '#lib/request-reader'

/** An item of a hand-made conversation. */
export type Item =
  | { readonly kind: 'system' | 'user' | 'beside'; readonly text: string }
  | { readonly kind: 'turn'; readonly calls: readonly Called[]; readonly text: string }
  | { readonly kind: 'result'; readonly id: string; readonly text: string; readonly error: boolean }

/** A call within a turn. */
export interface Called {
  readonly tool: string
  readonly args: unknown
  readonly id: string
}

let ids = 0

export const system = (text: string): Item => ({ kind: 'system', text })
export const user = (text: string): Item => ({ kind: 'user', text })
/** Text next to tool results, outside reminders. */
export const beside = (text: string): Item => ({ kind: 'beside', text })
/** An assistant turn of words only. */
export const says = (text: string): Item => ({ kind: 'turn', calls: [], text })
export const called = (tool: string, args: unknown = {}, id = `call_${++ids}`): Called => ({ tool, args, id })
export const turn = (...calls: readonly Called[]): Item => ({ kind: 'turn', calls, text: '' })
export const result = (id: string, text: string, error = false): Item => ({ kind: 'result', id, text, error })
/** A turn with one call, and its result. */
export const step = (tool: string, args: unknown = {}, text = 'done'): Item[] => {
  const call = called(tool, args)
  return [turn(call), result(call.id, text)]
}

export const keyOf = (tool: string, args: unknown = {}): string => callKey(tool, argumentText(args))
const resultOf = (text: string): string | null => (text === '' ? null : sha256(`result ${text}`))

/** What else makes requests differ: model, tools, stateful ids. */
export const conversation = (items: readonly Item[], extra = ''): Conversation => {
  const chained = items.map(itemText)
  const talked = chained.filter((_, index) => items[index]?.kind !== 'system')
  const known = new Set(items.flatMap((item) => (item.kind === 'turn' ? item.calls.map((call) => call.id) : [])))
  return {
    chain: chainOf(chained),
    talk: chainOf(talked),
    turns: items.flatMap((item, index) => (item.kind === 'turn' ? [turnOf(items, item.calls, index)] : [])),
    systems: items.flatMap((item, index) => (item.kind === 'system' ? [index] : [])),
    besides: items.flatMap((item, index) => (item.kind === 'beside' ? [index] : [])),
    fingerprint: sha256(['request', extra, ...chained].join('\0')),
    opening: sha256(items.find((item) => item.kind === 'user')?.text ?? ''),
    text_bytes: Buffer.byteLength(chained.join('')),
    loose_results: items.flatMap((item) =>
      item.kind === 'result' && !known.has(item.id)
        ? [
            {
              id: item.id,
              result: resultOf(item.text),
              error: item.error,
              passed: false,
              pending: false,
              notice: false,
            },
          ]
        : [],
    ),
    turnContents: (turns) => contentsOf(items).slice(-turns),
    resultTexts: (turns) =>
      contentsOf(items)
        .slice(-turns)
        .map(({ results }) => results),
  }
}

/** Results before the first turn are one more turn. */
const contentsOf = (items: readonly Item[]): readonly TurnContent[] => {
  const first = items.findIndex(({ kind }) => kind === 'turn')
  const loose = (first === -1 ? items : items.slice(0, first)).filter(({ kind }) => kind === 'result')
  const told = items.flatMap((item, index) =>
    item.kind === 'turn' ? [contentOf(item.text, item.calls, behind(items, index))] : [],
  )
  return loose.length > 0 ? [contentOf('', [], loose), ...told] : told
}

const contentOf = (said: string, calls: readonly Called[], answers: readonly Item[]): TurnContent => ({
  text: said,
  calls: calls.map(({ tool, args }) => ({ tool, args })),
  results: answers.flatMap((item) => (item.kind === 'result' ? [item.text] : [])),
  heard: answers.flatMap((item) => (item.kind === 'user' || item.kind === 'beside' ? [item.text] : [])).join('\n'),
  served: false,
})

/** The items between a turn and the next. */
const behind = (items: readonly Item[], index: number): readonly Item[] => {
  const rest = items.slice(index + 1)
  const next = rest.findIndex((item) => item.kind === 'turn')
  return next === -1 ? rest : rest.slice(0, next)
}

/** What an item says, without its ids. */
const itemText = (item: Item): string =>
  item.kind === 'turn'
    ? `turn ${item.text} ${item.calls.map((call) => keyOf(call.tool, call.args)).join(' ')}`
    : `${item.kind} ${item.text}`

const chainOf = (texts: readonly string[]): Chain => {
  const tips = texts.map((_, index) => sha256(texts.slice(0, index + 1).join('\0')))
  return {
    length: tips.length,
    tip: tips.at(-1) ?? '',
    tipOf: (items) => tips[items - 1],
    longestIn: (known) => tips.findLastIndex((tip) => known.has(tip)) + 1,
  }
}

const turnOf = (items: readonly Item[], calls: readonly Called[], index: number): Turn => {
  const byKey = new Map(calls.map((call) => [keyOf(call.tool, call.args), toolCall(call, items.slice(index + 1))]))
  return {
    calls: [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1)),
    item: index,
    user_after: behind(items, index).some((item) => item.kind === 'user'),
  }
}

const toolCall = ({ tool, args, id }: Called, behind: readonly Item[]): ToolCall => {
  const found = behind.find((item) => item.kind === 'result' && item.id === id)
  const { text, error } = found?.kind === 'result' ? found : { text: '', error: false }
  return { ...calledTool(tool, args), id, result: resultOf(text), error, passed: false }
}
