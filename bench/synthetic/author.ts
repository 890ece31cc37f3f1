import { prose, random } from '../kit.ts'
import type { Step, StepResult } from '../quality/trajectory.ts'

const LINES = 6
const LINE_CHARS = 48

/** Writes turns of an agent. Equal seeds give equal turns. */
export interface Author {
  next(): number
  /** Returns new, unique lines. */
  lines(count?: number): string[]
  /** A new call with a new result. */
  work(): Step
}

/** An author with choices that depend only on the seed. */
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

/** A number in letters, because rules mask digits. */
export const word = (number: number): string => {
  let text = ''
  for (let rest = number; rest > 0; rest = Math.floor(rest / 26)) text = String.fromCharCode(97 + (rest % 26)) + text
  return `w${text}`
}

/** A turn with one call. */
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
