import { readFileSync } from 'node:fs'
import type { BatchesLine, Heading, ShapesLine } from './format.ts'

/** The last turn of a log. */
export interface Log extends Heading {
  readonly lines: readonly (ShapesLine | BatchesLine)[]
}

/** Reads the complete lines of a log's last turn. A file that is missing, or is no log, is a log of no database. */
export const readLog = (name: string): Log => {
  const [heading = { database: '', turn: 0 }, ...lines] = readLines(name)
  return { ...(heading as Heading), lines: lines as Log['lines'] }
}

const readLines = (name: string): unknown[] => {
  // the text after the last line break is incomplete, and no caller was answered for it
  const texts = textOf(name).split('\n').slice(0, -1)
  const suffix = suffixOf(texts[0] ?? '')
  const lines: unknown[] = []
  for (const text of texts) {
    if (!text.endsWith(suffix)) break
    try {
      lines.push(JSON.parse(text.slice(0, text.length - suffix.length)))
    } catch {
      break
    }
  }
  return lines
}

/** The suffix of all lines, found at the end of the heading. */
const suffixOf = (heading: string): string => heading.slice(heading.lastIndexOf(' '))

const textOf = (name: string): string => {
  try {
    return readFileSync(name, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
