import type { Io } from 'guard-gateway/lib/command'
import { costText, groupedText } from 'guard-gateway/lib/format'
import { columnLines, terminalWidth } from 'guard-gateway/lib/terminal'
import { terminalLine } from 'guard-gateway/lib/text'
import type { UseRow } from '../read/use-rows.ts'
import { durationOf } from './list.ts'

const head = ['', 'model, tool or command', 'calls', 'errors', 'p50', 'p95', 'in', 'cached', 'out', 'cost']
const figures: ReadonlySet<number> = new Set([2, 3, 4, 5, 6, 7, 8, 9])
const free = new Map([[1, 20]])

/** Prints calls by model, tool and command. */
export const printUse = (uses: readonly UseRow[], io: Io): void => {
  if (uses.length === 0) {
    io.out.write('This run calls no model, tool or command.\n')
    return
  }
  for (const line of columnLines([head, ...uses.map(cellsOf)], figures, {
    width: terminalWidth(io.out),
    spare: [5, 7],
    free,
  }))
    io.out.write(`${line}\n`)
}

const cellsOf = (use: UseRow): readonly string[] => {
  const isModel = use.kind === 'model'
  const count = (value: number): string => (isModel ? groupedText(value) : '')
  return [
    use.kind,
    terminalLine(use.name ?? 'unnamed'),
    groupedText(use.calls),
    use.errors === 0 ? '' : groupedText(use.errors),
    tookText(use.p50_ns),
    tookText(use.p95_ns),
    count(use.input_tokens),
    count(use.cached_input_tokens),
    count(use.output_tokens),
    isModel ? costText(use.cost_micro) : '',
  ]
}

const tookText = (ns: number | null): string => (ns === null ? '–' : durationOf(ns))
