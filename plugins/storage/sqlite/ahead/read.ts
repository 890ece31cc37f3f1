import { readFileSync } from 'node:fs'
import type { BatchesLine, Heading, ShapesLine } from './format.ts'

/** A log as its last turn left it. */
export interface Log extends Heading {
  readonly lines: readonly (ShapesLine | BatchesLine)[]
}

/** Reads the lines of a log's last turn that were written whole; a file that is none, or is not there, is a log of no database. */
export const readLog = (name: string): Log => {
  const [heading = { database: '', turn: 0 }, ...lines] = readLines(name)
  return { ...(heading as Heading), lines: lines as Log['lines'] }
}

const readLines = (name: string): unknown[] => {
  // behind the last line break stands one that nobody was told of
  const texts = textOf(name).split('\n').slice(0, -1)
  const end = endIn(texts[0] ?? '')
  const lines: unknown[] = []
  for (const text of texts) {
    if (!text.endsWith(end)) break
    try {
      lines.push(JSON.parse(text.slice(0, text.length - end.length)))
    } catch {
      break
    }
  }
  return lines
}

/** What lines end with, as the heading does; those of earlier versions end with their JSON. */
const endIn = (heading: string): string => (heading.endsWith('}') ? '' : heading.slice(heading.lastIndexOf(' ')))

const textOf = (name: string): string => {
  try {
    return readFileSync(name, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
