import type { TreeSpan } from '#lib/trace'
import { callKindOf, countedSpans } from './counted-spans.ts'
import { cachedTokensOf } from './model-tokens.ts'
import { isFailed, knownDuration } from './span-time.ts'

/** Calls of one model, tool or command. */
export interface Use {
  readonly kind: 'model' | 'tool' | 'command'
  /** Null: the spans name none. */
  readonly name: string | null
  calls: number
  errors: number
  /** Known durations, nanoseconds, in no order. */
  readonly durations_ns: number[]
  tokens: number
  /** All input, and of it what came from a cache. */
  input_tokens: number
  cached_tokens: number
  cost_micro: number
}

/** Calls by kind and name. */
export type UseTable = ReadonlyMap<string, Use>

/** Adds the calls of a run by model, tool and command. */
export const addUse = (table: Map<string, Use>, spans: readonly TreeSpan[]): void => {
  for (const span of countedSpans(spans)) {
    const use = useIn(table, span)
    use.calls++
    if (isFailed(span)) use.errors++
    const took = knownDuration(span)
    if (took !== null) use.durations_ns.push(Number(took))
    use.tokens += Number((span.input_tokens ?? 0n) + (span.output_tokens ?? 0n))
    use.input_tokens += Number(span.input_tokens ?? 0n)
    use.cached_tokens += Number(cachedTokensOf(span) ?? 0n)
    use.cost_micro += Number(span.cost_micro ?? 0n)
  }
}

const useIn = (table: Map<string, Use>, span: TreeSpan): Use => {
  const kind = callKindOf(span) ?? 'model'
  return entryOf(table, kind, kind === 'model' ? (span.label ?? span.model) : span.label)
}

const entryOf = (table: Map<string, Use>, kind: Use['kind'], name: string | null): Use => {
  const key = `${kind} ${name ?? ''}`
  const known = table.get(key)
  if (known !== undefined) return known
  const figures = { calls: 0, errors: 0, tokens: 0, input_tokens: 0, cached_tokens: 0, cost_micro: 0 }
  const use: Use = { kind, name, durations_ns: [], ...figures }
  table.set(key, use)
  return use
}

/** Adds the calls of another table. */
export const mergeUse = (into: Map<string, Use>, from: UseTable): void => {
  for (const {
    kind,
    name,
    calls,
    errors,
    durations_ns,
    tokens,
    input_tokens,
    cached_tokens,
    cost_micro,
  } of from.values()) {
    const use = entryOf(into, kind, name)
    use.calls += calls
    use.errors += errors
    for (const took of durations_ns) use.durations_ns.push(took)
    use.tokens += tokens
    use.input_tokens += input_tokens
    use.cached_tokens += cached_tokens
    use.cost_micro += cost_micro
  }
}

/** The value that this share of the sorted values does not exceed (nearest rank); undefined without values. */
export const percentile = (sorted: ArrayLike<number>, share: number): number | undefined =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]
