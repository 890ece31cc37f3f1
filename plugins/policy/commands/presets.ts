import { ENFORCE_RECOMMENDED } from 'guard-gateway/lib/budget'
import type { Input, Io } from 'guard-gateway/lib/command'
import { writeJson } from 'guard-gateway/lib/json'
import { columnLines, terminalWidth, wrapLine } from 'guard-gateway/lib/terminal'
import type { PolicyCommandOptions } from './command-context.ts'

/** Prints the presets, a line each, and which one to start with. */
export const listPresets = ({ options }: Input, io: Io, { summaries, calledAs }: PolicyCommandOptions): number => {
  const presets = Object.entries(summaries)
  if (options.json === true) {
    io.out.write(`${writeJson({ presets: presets.map(([name, summary]) => ({ name, summary })) })}\n`)
    return 0
  }
  const width = terminalWidth(io.out) ?? Number.POSITIVE_INFINITY
  const left = Math.max(...presets.map(([name]) => name.length)) + 2
  for (const line of columnLines(presets).flatMap((whole) => wrapLine(whole, width, left))) io.out.write(`${line}\n`)
  if (options.quiet !== true) io.err.write(`To stop agents that are stuck: ${calledAs} ${ENFORCE_RECOMMENDED}\n`)
  return 0
}
