import { printTable } from '../kit/table.ts'
import type { Summary } from './summary.ts'
import type { Spending } from './waste-summary.ts'

/** Savings and costs of stops, one subject per line. Empty if no run is a loop. */
export const wasteTable = (summaries: readonly Summary[]): string => {
  const shown = summaries.flatMap((one) =>
    one.waste === null || one.excluded === one.n ? [] : [{ ...one, waste: one.waste }],
  )
  const [first] = shown
  if (first === undefined) return ''
  const { wasted, loops, usd_per_million_tokens: price } = first.waste
  const rows = shown.map(({ detector, waste, lost }) => [
    detector.id,
    String(waste.stopped),
    waste.median_lag === null ? '-' : String(waste.median_lag),
    spent(waste.before),
    spent(waste.saved),
    waste.saved_share === null ? '-' : `${(waste.saved_share * 100).toFixed(1)} %`,
    cut(lost.clean),
    cut(lost.solved),
  ])
  const head = `what a stop saves: ${loops} loops waste ${spent(wasted)} (requests, tokens, and dollars by an estimate of ${price} a million)`
  return `${head}\n${printTable(['detector', 'loops stopped', 'lag', 'wasted before the stop', 'saved by it', 'share', 'clean runs stopped', 'solved runs stopped'], rows)}`
}

const spent = ({ requests, tokens, cost_micro }: Spending): string =>
  `${requests} req, ${(tokens / 1e6).toFixed(2)} M, $${(cost_micro / 1e6).toFixed(2)}`

/** Number of runs, and their lost work. */
const cut = ({ runs, ...work }: Spending & { readonly runs: number }): string =>
  runs === 0 ? '0' : `${runs}: ${spent(work)}`
