import type { Part } from '../contracts/api-style.ts'
import { plainResult } from '../tool-calls.ts'

/**
 * Texts of the tool results of the last `turns` turns, oldest turn first, as rules compare them: without reminders and run lines.
 * `partsAt` gives the parts of one of `count` pieces of a conversation; only as many are read as it takes.
 * Results before the first turn are one more turn: they answer calls that the body leaves out.
 */
export const resultTexts = (
  turns: number,
  count: number,
  partsAt: (index: number) => readonly Part[],
): readonly (readonly string[])[] => {
  const reader = new BackwardReader(turns)
  for (let index = count - 1; index >= 0 && !reader.done; index--) reader.take(partsAt(index))
  return reader.close()
}

/** Reads parts from the end: results come before the turn that asked for them. */
class BackwardReader {
  readonly #wanted: number
  readonly #found: (readonly string[])[] = []
  #pending: string[] = []
  #inTurn = false

  constructor(wanted: number) {
    this.#wanted = wanted
  }

  get done(): boolean {
    return this.#found.length >= this.#wanted
  }

  take(parts: readonly Part[]): void {
    for (let index = parts.length - 1; index >= 0 && !this.done; index--) {
      const part = parts[index]
      if (part === undefined) continue
      if (part.kind !== 'call' && part.kind !== 'text') {
        this.#inTurn = false
        if (part.kind === 'result') this.#pending.push(plainResult(part.text))
      } else if (!this.#inTurn) {
        this.#inTurn = true
        this.#endTurn()
      }
    }
  }

  close(): readonly (readonly string[])[] {
    if (this.#pending.length > 0 && !this.done) this.#endTurn()
    return this.#found.reverse()
  }

  #endTurn(): void {
    this.#found.push(this.#pending.reverse())
    this.#pending = []
  }
}
