import type { Sender, UsageField } from '../senders/sender.ts'
import { UNLISTED } from './meanings.ts'
import type { SenderReport } from './sender-attributes.ts'

/** Token counts of one call in the meaning of the GenAI conventions: input and output hold all there is of each. */
export interface SettledUsage {
  readonly input: number | undefined
  readonly output: number | undefined
  readonly cache_read: number | undefined
  readonly cache_write: number | undefined
  readonly cache_write_1h: number | undefined
  readonly reasoning: number | undefined
  /** What was told contradicts itself. */
  readonly contradiction: boolean
}

/** How a sender counts: whether input holds what was cached, output what was reasoned, and the total everything. */
interface Counting {
  readonly input: boolean
  readonly output: boolean
  readonly total: boolean
}

const countingOf = (sender: Sender | undefined): Counting => ({
  input: sender?.input_holds_cached ?? true,
  output: sender?.output_holds_reasoning ?? true,
  total: sender?.total_is_complete ?? true,
})

/** Usage of a span, or as much as it tells; undefined if it tells none. Names in no table count only beside each other or a model. */
export const settledUsage = (reported: SenderReport): SettledUsage | undefined => {
  if (!isUsage(reported)) return undefined
  const counts = countsOf(reported)
  const { input, output, cached, reasoning } = counts
  const sender = reported.sender ?? (reported.usage.get('input') ?? reported.usage.get('output'))?.sender
  const { held, contradiction } = heldBy(counts, countingOf(sender))
  return {
    ...counts.cache,
    input: input === undefined || held.input ? input : input + cached,
    output: output === undefined || held.output ? output : output + (reasoning ?? 0),
    reasoning,
    contradiction,
  }
}

const isUsage = ({ usage, texts }: SenderReport): boolean => {
  const hasModel = texts.has('model') || texts.has('response_model')
  const isPair = usage.has('input') && usage.has('output')
  return usage.size > 0 && (hasModel || isPair || [...usage.values()].some(({ rank }) => rank < UNLISTED))
}

interface Counts {
  readonly input: number | undefined
  readonly output: number | undefined
  readonly uncached: number | undefined
  readonly total: number | undefined
  readonly reasoning: number | undefined
  readonly cache: Cache
  /** Read from and written to a cache. */
  readonly cached: number
}

type Cache = Pick<SettledUsage, 'cache_read' | 'cache_write' | 'cache_write_1h'>
type Count = (field: UsageField) => number | undefined

const countsOf = ({ usage }: SenderReport): Counts => {
  const of: Count = (field) => usage.get(field)?.value
  const cache = cacheOf(of)
  const cached = (cache.cache_read ?? 0) + (cache.cache_write ?? 0)
  const uncached = of('uncached')
  const input = of('input') ?? (uncached === undefined ? undefined : uncached + cached)
  const total = of('total')
  const reasoning = of('reasoning')
  return { ...withRest(input, of('output'), total), uncached, total, reasoning, cache, cached }
}

const cacheOf = (of: Count): Cache => {
  const long = of('cache_write_1h')
  const short = of('cache_write_5m')
  const parts = long === undefined && short === undefined ? undefined : (long ?? 0) + (short ?? 0)
  const reported = of('cache_write')
  const cache_write = reported === undefined || (parts ?? 0) > reported ? (parts ?? reported) : reported
  return { cache_read: of('cache_read'), cache_write, cache_write_1h: long }
}

/** One of input and output is the rest of the total. */
const withRest = (
  input: number | undefined,
  output: number | undefined,
  total: number | undefined,
): Pick<Counts, 'input' | 'output'> => {
  if (total === undefined || (input === undefined) === (output === undefined)) return { input, output }
  const rest = total - (input ?? output ?? 0)
  return rest > 0 ? { input: input ?? rest, output: output ?? rest } : { input, output }
}

interface Held {
  readonly input: boolean
  readonly output: boolean
}

/** Whether input holds the cached part and output the reasoning part: as it must be, else as the total says, else as the sender counts. */
const heldBy = (counts: Counts, counting: Counting): { readonly held: Held; readonly contradiction: boolean } => {
  const { input = 0, output = 0, cached, reasoning = 0, uncached, total } = counts
  const possible = possibilities(counting, cached > input, reasoning > output)
  const usual = possible[0] ?? { input: false, output: false }
  if (uncached !== undefined && cached > 0 && input === uncached)
    return { held: { ...usual, input: false }, contradiction: false }
  if (total === undefined || !counting.total || input === 0 || output === 0)
    return { held: usual, contradiction: false }
  const sum = (held: Held): number => input + (held.input ? 0 : cached) + output + (held.output ? 0 : reasoning)
  const fitting = possible.find((held) => sum(held) === total)
  // a total of some senders leaves cached tokens out
  return { held: fitting ?? usual, contradiction: fitting === undefined && input + output !== total }
}

/** The ways to count that the counts allow, the sender's own first. */
const possibilities = (counting: Counting, isInputApart: boolean, isOutputApart: boolean): readonly Held[] => {
  const inputs = [counting.input, !counting.input].filter((held) => !(held && isInputApart))
  const outputs = [counting.output, !counting.output].filter((held) => !(held && isOutputApart))
  return inputs.flatMap((input) => outputs.map((output) => ({ input, output })))
}
