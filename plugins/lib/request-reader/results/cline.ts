import type { ResultFrame, UnframedResult } from './result-frame.ts'

/** Longer results are not parsed. */
const CHARS = 200_000

interface Answer {
  readonly result?: unknown
  readonly success?: unknown
  readonly error?: unknown
}

const opening = /^\[?\{"(?:query|error)":/

/** Cline 3.0: one object for each command or file, with `query`, `result`, `success` and perhaps `error`. A refusal is `{"error": …}`. */
export const cline: ResultFrame = {
  client: 'Cline 3.0: `[{"query": …, "result": …, "success": true}]`',
  read(text) {
    if (!opening.test(text) || text.length > CHARS) return
    const answers = parsed(text)
    if (answers === undefined || !answers.every(isAnswer)) return
    return framed(answers)
  },
}

const parsed = (text: string): readonly unknown[] | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : [value]
  } catch {
    return undefined
  }
}

const isAnswer = (value: unknown): value is Answer =>
  typeof value === 'object' &&
  value !== null &&
  (typeof (value as Answer).success === 'boolean' || typeof (value as Answer).error === 'string')

const framed = (answers: readonly Answer[]): UnframedResult => ({
  body: answers.map(bodyOf).join('\n'),
  failed: answers.some(({ success, error }) => success === false || typeof error === 'string'),
})

const bodyOf = ({ result, error }: Answer): string =>
  [result, error].filter((part) => typeof part === 'string').join('\n')
