import { prose, random } from '../kit.ts'
import type { Step, StepResult } from '../quality/trajectory.ts'

const LINES = 6
const LINE_CHARS = 48

/** Writes turns of an agent; the same seed writes the same ones. */
export interface Author {
  next(): number
  /** So many lines that nobody has written before. */
  lines(count?: number): string[]
  /** A call that was not made before, with a result that says something new. */
  work(): Step
}

/** An author whose choices follow from the seed alone. */
export const author = (seed: number): Author => {
  const next = random(seed)
  let count = 0
  const lines = (many = LINES) =>
    Array.from({ length: many }, () => `${word(++count)} ${prose(next, LINE_CHARS).replace(/\s+/g, ' ')}`)
  const tools = ['read_file', 'grep', 'run_command', 'list_folder']
  const work = () => {
    const tool = tools[Math.floor(next() * tools.length)] ?? 'read_file'
    return turn(tool, { path: `src/${word(++count)}.ts` }, lines().join('\n'))
  }
  return { next, lines, work }
}

/** A number in letters, since rules mask digits of what changes by itself. */
export const word = (number: number): string => {
  let text = ''
  for (let rest = number; rest > 0; rest = Math.floor(rest / 26)) text = String.fromCharCode(97 + (rest % 26)) + text
  return `w${text}`
}

/** A turn of one call. */
export const turn = (tool: string, args: object, text: string, error = false): Step => ({
  calls: [[tool, args]],
  results: [resultOf(text, error)],
})

const resultOf = (text: string, error: boolean): StepResult => ({
  text,
  chars: text.length,
  error,
  empty: text.trim() === '',
})
