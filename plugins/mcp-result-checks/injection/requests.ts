import type { PieceFinding } from 'guard-gateway/lib/mcp-check'
import type { PlainView } from './plain-view.ts'
import { removal } from './removal.ts'
import { type Signal, signalsIn } from './signals.ts'

/** Signals this close belong together. */
const NEAR = 400
/** A sentence is removed whole unless it is longer. */
const SENTENCE = 600

/** Text that asks the agent to do something: one signal that nothing else gives, or several that come together. */
export const requestsIn = (view: PlainView): readonly PieceFinding[] =>
  groups(signalsIn(view.text)).flatMap((group) => {
    if (!asks(group)) return []
    const first = Math.min(...group.map(({ start }) => start))
    const last = Math.max(...group.map(({ end }) => end))
    const start = sentenceStart(view.text, first)
    const end = sentenceEnd(view.text, last)
    const kinds = [...new Set(group.map(({ kind }) => kind))].join(', ')
    return [
      removal(
        `asks the agent to do something: ${kinds}`,
        view.place(start),
        view.place(end),
        'asks the agent to do something',
      ),
    ]
  })

const groups = (signals: readonly Signal[]): readonly (readonly Signal[])[] => {
  const made: Signal[][] = []
  let reach = -1
  for (const signal of signals.toSorted((one, other) => one.start - other.start)) {
    if (signal.start <= reach) made.at(-1)?.push(signal)
    else made.push([signal])
    reach = Math.max(reach, signal.end + NEAR)
  }
  return made
}

const asks = (group: readonly Signal[]): boolean => {
  const kinds = new Map(group.map((signal) => [signal.kind, signal]))
  const weight = [...kinds.values()].reduce((sum, one) => sum + one.weight, 0)
  return weight >= 3 && group.some(({ directed }) => directed)
}

const sentenceStart = (text: string, at: number): number => {
  const before = text.slice(Math.max(0, at - SENTENCE), at)
  const [last] = [...before.matchAll(/[.!?] |\n/g)].slice(-1)
  return last === undefined ? at : at - before.length + last.index + last[0].length
}

const sentenceEnd = (text: string, at: number): number => {
  const found = /[.!?](?=\s|$)|\n/.exec(text.slice(at, at + SENTENCE))
  return found === null ? Math.min(text.length, at) : at + found.index + (found[0] === '\n' ? 0 : 1)
}
