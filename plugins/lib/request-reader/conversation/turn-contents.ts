import type { Part, TurnContent } from 'guard-gateway/core'
import { withoutReminders } from './system-reminders.ts'
import { plainResult } from './tool-calls.ts'

/**
 * The contents of the last `turns` turns, oldest first. `partsAt` returns the parts of one of the `count` elements of a conversation; only
 * as many as needed are read. Results before the first turn are one more turn: they answer calls that the body leaves out.
 */
export const turnContents = (
  turns: number,
  count: number,
  partsAt: (index: number) => readonly Part[],
): readonly TurnContent[] => {
  const reader = new BackwardReader(turns)
  for (let index = count - 1; index >= 0 && !reader.done; index--) reader.take(partsAt(index))
  return reader.close()
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

/** A turn that is being read. Its texts are in reading order, the last one first. */
interface Draft {
  texts: string[]
  calls: Writable<TurnContent['calls'][number]>[]
  results: string[]
  heard: string[]
  served: boolean
}

const newDraft = (): Draft => ({ texts: [], calls: [], results: [], heard: [], served: false })

/** Reads parts backwards: results come before the turn of their calls. */
class BackwardReader {
  readonly #limit: number
  readonly #found: TurnContent[] = []
  #draft = newDraft()
  #inTurn = false

  constructor(limit: number) {
    this.#limit = limit
  }

  get done(): boolean {
    return this.#found.length >= this.#limit
  }

  take(parts: readonly Part[]): void {
    for (let index = parts.length - 1; index >= 0; index--) {
      const part = parts[index]
      if (part === undefined) continue
      const isOfTurn = part.kind === 'call' || part.kind === 'text'
      if (this.#inTurn && !isOfTurn) this.#endTurn()
      if (this.done) return
      this.#note(part)
    }
  }

  close(): readonly TurnContent[] {
    if ((this.#inTurn || this.#draft.results.length > 0) && !this.done) this.#endTurn()
    return this.#found.reverse()
  }

  #note(part: Part): void {
    const draft = this.#draft
    switch (part.kind) {
      case 'call':
        this.#inTurn = true
        draft.calls.push({ tool: part.tool, args: part.args })
        break
      case 'text':
        this.#inTurn = true
        draft.texts.push(part.text)
        break
      case 'result':
        draft.results.push(plainResult(part.text))
        if (part.served === true) draft.served = true
        break
      case 'system':
        break
      default:
        draft.heard.push(withoutReminders(part.text))
    }
  }

  #endTurn(): void {
    const { texts, calls, results, heard, served } = this.#draft
    this.#found.push({
      text: texts.reverse().join('\n'),
      calls: calls.reverse(),
      results: results.reverse(),
      heard: heard.reverse().join('\n'),
      served,
    })
    this.#draft = newDraft()
    this.#inTurn = false
  }
}
