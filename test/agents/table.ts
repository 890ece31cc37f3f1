import type { Absent } from './agent.ts'
import type { Played } from './play.ts'

/** A table of agents and scripts, as Markdown. */
export const tableOf = (played: readonly Played[], absent: readonly Absent[]): string => {
  const columns = [...new Set(played.map(columnOf))]
  const rows = [...new Set(played.map(({ agent }) => `${agent.id} ${agent.version}`))]
  const cell = (row: string, column: string) => {
    const found = played.find((one) => `${one.agent.id} ${one.agent.version}` === row && columnOf(one) === column)
    return found === undefined ? '–' : verdictOf(found)
  }
  const lines = [
    ['client', ...columns],
    ['---', ...columns.map(() => '---')],
    ...rows.map((row) => [row, ...columns.map((column) => cell(row, column))]),
  ]
  return [
    ...lines.map((cells) => `| ${cells.join(' | ')} |`),
    ...absent.map(({ id, reason }) => `not played: ${id}: ${reason}`),
    '',
  ].join('\n')
}

const columnOf = ({ way, script }: Played): string => (way === 'own' ? script.id : `${script.id} (${way})`)

const verdictOf = ({ faults, blocks, requests, script }: Played): string => {
  if (faults.length === 0) return `ok ${requests}`
  const why = blocks.length > 0 && script.loops === undefined ? `${[...new Set(blocks)].join(', ')} after` : 'FAIL'
  return `${why} ${requests}`
}
