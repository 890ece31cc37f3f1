import { percentile, type Use, type UseTable } from './use.ts'

/** Calls of one model, tool or command, as programs read them. */
export interface UseRow {
  readonly kind: Use['kind']
  /** Null: the spans name none. */
  readonly name: string | null
  readonly calls: number
  readonly errors: number
  /** Nanoseconds, of calls whose duration is known; null without such calls. */
  readonly p50_ns: number | null
  readonly p95_ns: number | null
  readonly total_ns: number
  /** All input, and of it what came from a cache. */
  readonly input_tokens: number
  readonly cached_input_tokens: number
  readonly output_tokens: number
  readonly total_tokens: number
  readonly cost_micro: number
}

/** The costliest first, then what was called most. */
export const byWorth = (one: Use, other: Use): number =>
  other.cost_micro - one.cost_micro || other.tokens - one.tokens || other.calls - one.calls

const orders = { model: 0, tool: 1, command: 2 } as const

/** Rows of a table: models, then tools, then commands. */
export const useRows = (table: UseTable): readonly UseRow[] =>
  [...table.values()]
    .sort((one, other) => orders[one.kind] - orders[other.kind] || byWorth(one, other))
    .map(({ kind, name, calls, errors, durations_ns, tokens, cost_micro, ...use }) => {
      const sorted = durations_ns.toSorted((one, other) => one - other)
      return {
        kind,
        name,
        calls,
        errors,
        p50_ns: percentile(sorted, 0.5) ?? null,
        p95_ns: percentile(sorted, 0.95) ?? null,
        total_ns: sorted.reduce((sum, took) => sum + took, 0),
        input_tokens: use.input_tokens,
        cached_input_tokens: use.cached_tokens,
        output_tokens: tokens - use.input_tokens,
        total_tokens: tokens,
        cost_micro,
      }
    })
