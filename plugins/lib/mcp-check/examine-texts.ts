import { inTurns, Pace } from 'guard-gateway/lib/time-slice'
import type { ResultFinding, ResultPart, ToolResult } from './result-check.ts'

/** Characters of a text that are examined at a time. */
const PIECE_CHARS = 16_384
/** Time that the texts of one result may take, turns of others apart, in milliseconds. */
const MAX_WORK_MS = 1_000
/** More is not told of one result. */
const MAX_FINDINGS = 1_000

/** What is wrong in a piece; `start` and `end` of its edit count from the beginning of the piece. */
export type PieceFinding = Omit<ResultFinding, 'pointer'>

/**
 * What a check objects to in the texts of a result. Long ones are examined in pieces of whole lines, with the turns of others in between;
 * what there is no time for is a finding that nobody could tell, whose edit leaves it out.
 */
export const examineTexts = (
  result: ToolResult,
  examine: (piece: string, part: ResultPart) => readonly PieceFinding[],
  max_work_ms = MAX_WORK_MS,
): readonly ResultFinding[] | Promise<readonly ResultFinding[]> =>
  inTurns(findings(result, examine, new WorkTime(max_work_ms)), new Pace())

/** Time spent between `begin` and `end`, turns of others apart. */
class WorkTime {
  readonly #most: number
  #spent = 0

  constructor(most: number) {
    this.#most = most
  }

  get isOver(): boolean {
    return this.#spent > this.#most
  }

  during<T>(work: () => T): T {
    const since = performance.now()
    const made = work()
    this.#spent += performance.now() - since
    return made
  }
}

function* findings(
  { parts }: ToolResult,
  examine: (piece: string, part: ResultPart) => readonly PieceFinding[],
  time: WorkTime,
): Generator<undefined, readonly ResultFinding[]> {
  const found: ResultFinding[] = []
  for (const part of parts) {
    if (part.kind === 'data') continue
    for (const [start, end] of piecesOf(part.text)) {
      if (time.isOver || found.length >= MAX_FINDINGS) {
        found.push(unexamined(part, start))
        break
      }
      const told = time.during(() => examine(part.text.slice(start, end), part))
      found.push(...told.map((one) => placed(one, part, start)))
      yield
    }
    if (found.length > MAX_FINDINGS) return [...found, TOO_MANY]
  }
  return found
}

const placed = ({ edit, ...finding }: PieceFinding, { pointer }: ResultPart, offset: number): ResultFinding => ({
  ...finding,
  pointer,
  ...(edit === undefined ? {} : { edit: { ...edit, start: edit.start + offset, end: edit.end + offset } }),
})

const unexamined = ({ pointer, text }: ResultPart, start: number): ResultFinding => {
  const left = `${text.length - start} characters`
  return {
    pointer,
    reason: `was not examined to its end: ${left} are left`,
    certain: false,
    edit: { start, end: text.length, text: `[${left} were not examined by Guard and are left out]` },
  }
}

const TOO_MANY: ResultFinding = { pointer: '', reason: `has more than ${MAX_FINDINGS} findings`, certain: false }

/** Where pieces begin and end: after a line, or a blank, and never inside of a private key. */
export function* piecesOf(text: string): Generator<readonly [start: number, end: number]> {
  let start = 0
  while (text.length - start > PIECE_CHARS) {
    const end = pieceEnd(text, start)
    yield [start, end]
    start = end
  }
  if (start < text.length) yield [start, text.length]
}

const pieceEnd = (text: string, start: number): number => {
  const latest = start + PIECE_CHARS
  const earliest = start + PIECE_CHARS / 2
  const key = text.lastIndexOf('-----BEGIN', latest)
  const before = key > earliest && text.lastIndexOf('-----END', latest) < key ? key : latest
  const line = text.lastIndexOf('\n', before - 1) + 1
  if (line > earliest) return line
  const blank = text.lastIndexOf(' ', before - 1) + 1
  return blank > earliest ? blank : before
}
