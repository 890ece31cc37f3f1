import type { Part, TurnContent } from 'guard-gateway/core'
import { withoutReminders } from './fingerprint.ts'
import { plainResult } from './tool-calls.ts'

/**
 * What the last `turns` turns said, oldest turn first. `partsAt` gives the parts of one of `count` pieces of a conversation; only as many
 * are read as it takes. Results before the first turn are one more turn: they answer calls that the body leaves out.
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

/** Texts in the order of reading, the last one first. */
interface Draft {
  said: string[]
  calls: Writable<TurnContent['calls'][number]>[]
  results: string[]
  heard: string[]
  served: boolean
}

const noDraft = (): Draft => ({ said: [], calls: [], results: [], heard: [], served: false })

/** Reads parts from the end: results come before the turn that asked for them. */
class BackwardReader {
  readonly #wanted: number
  readonly #found: TurnContent[] = []
  #draft = noDraft()
  #inTurn = false

  constructor(wanted: number) {
    this.#wanted = wanted
  }

  get done(): boolean {
    return this.#found.length >= this.#wanted
  }

  take(parts: readonly Part[]): void {
    for (let index = parts.length - 1; index >= 0; index--) {
      const part = parts[index]
      if (part === undefined) continue
      const spoken = part.kind === 'call' || part.kind === 'text'
      if (this.#inTurn && !spoken) this.#endTurn()
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
        draft.said.push(part.text)
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
    const { said, calls, results, heard, served } = this.#draft
    this.#found.push({
      said: said.reverse().join('\n'),
      calls: calls.reverse(),
      results: results.reverse(),
      heard: heard.reverse().join('\n'),
      served,
    })
    this.#draft = noDraft()
    this.#inTurn = false
  }
}
