import { cutText } from '#lib/text'
import type { TreeSpan } from '#lib/trace'
import { isVolatile } from '../equal-siblings.ts'
import { errorOf } from '../span-error.ts'
import { isUnseen, knownDuration } from '../span-time.ts'

/** Two spans that are compared, or one that only one run has. */
export interface SpanPair {
  readonly key: string
  readonly occurrence: number
  readonly left?: TreeSpan | undefined
  readonly right?: TreeSpan | undefined
}

/** One side of a row; nanoseconds, and millionths of the billing currency. */
export interface ComparedSpan {
  readonly span_id: string
  readonly status: string
  /** Null while running, and where the gateway does not know it. */
  readonly duration_ns: bigint | null
  readonly label: string | null
  /** Why it failed; null if it did not, or does not say. */
  readonly error: string | null
  /** Null for a span that is no model request. */
  readonly tokens: bigint | null
  readonly cost_micro: bigint | null
}

/** An attribute of both spans of a row, or of one of them. */
export interface AttributeChange {
  readonly name: string
  readonly left: AttributeValue
  readonly right: AttributeValue
}
type AttributeValue = string | number | bigint | boolean | null

export interface ComparedRow {
  /** `name#occurrence`, or `name[label]#occurrence`; in a sequence a span of only the right run begins with `+`. */
  readonly key: string
  readonly name: string
  /** From 1, in order of start within the name; of the left run if it has the span. */
  readonly occurrence: number
  readonly presence: 'both' | 'left' | 'right'
  readonly left: ComparedSpan | null
  readonly right: ComparedSpan | null
  readonly status_changed: boolean
  readonly label_changed: boolean
  /** Both have a hash of their arguments, and the hashes differ. */
  readonly arguments_changed: boolean
  /** Names of attributes that differ, without ids, times and usage; at most 20. */
  readonly attributes_changed: readonly string[]
  /** The same with their values, null where a side has none. */
  readonly attribute_changes: readonly AttributeChange[]
  /** Right minus left; null if a side is missing or not known. */
  readonly duration_delta_ns: bigint | null
  readonly tokens_delta: bigint | null
  readonly cost_delta_micro: bigint | null
}

export const minus = (right: bigint | null, left: bigint | null): bigint | null =>
  right === null || left === null ? null : right - left

/** What a pair is compared to. */
export const rowOf = ({ key, occurrence, left, right }: SpanPair): ComparedRow => {
  const sides = { left: sideOf(left), right: sideOf(right) }
  const of = { key, name: (left ?? right)?.name ?? '', occurrence, ...sides }
  return left === undefined || right === undefined
    ? { ...of, presence: left === undefined ? 'right' : 'left', ...unchanged }
    : { ...of, presence: 'both', ...changesOf(left, right) }
}

type Changes = Omit<ComparedRow, 'key' | 'name' | 'occurrence' | 'presence' | 'left' | 'right'>

const unchanged: Changes = {
  status_changed: false,
  label_changed: false,
  arguments_changed: false,
  attributes_changed: [],
  attribute_changes: [],
  duration_delta_ns: null,
  tokens_delta: null,
  cost_delta_micro: null,
}

const changesOf = (left: TreeSpan, right: TreeSpan): Changes => {
  const attributes_changed = changedAttributes(left, right)
  return {
    status_changed: left.status !== right.status && !isUnseen(left) && !isUnseen(right),
    label_changed: left.label !== right.label,
    arguments_changed: areArgumentsChanged(left, right),
    attributes_changed,
    attribute_changes: attributes_changed.map((name) => ({
      name,
      left: displayValue(own(left.attributes, name)),
      right: displayValue(own(right.attributes, name)),
    })),
    duration_delta_ns: minus(knownDuration(right), knownDuration(left)),
    tokens_delta: minus(tokensOf(right), tokensOf(left)),
    cost_delta_micro: minus(right.cost_micro, left.cost_micro),
  }
}

const tokensOf = ({ input_tokens, output_tokens }: TreeSpan): bigint | null =>
  input_tokens === null && output_tokens === null ? null : (input_tokens ?? 0n) + (output_tokens ?? 0n)

const sideOf = (span: TreeSpan | undefined): ComparedSpan | null => {
  if (span === undefined) return null
  const { id, status, label, cost_micro } = span
  const error = errorOf(span) ?? null
  return { span_id: id, status, duration_ns: knownDuration(span), label, error, tokens: tokensOf(span), cost_micro }
}

const ARGUMENTS = 'guard.argument_hash'

const areArgumentsChanged = (left: TreeSpan, right: TreeSpan): boolean => {
  const [one, other] = [left.attributes[ARGUMENTS], right.attributes[ARGUMENTS]]
  return typeof one === 'string' && typeof other === 'string' && one !== other
}

const MAX_NAMES = 20

const changedAttributes = ({ attributes: left }: TreeSpan, { attributes: right }: TreeSpan): readonly string[] => {
  const changed: string[] = []
  for (const name in left) if (isChanged(own(left, name), own(right, name)) && !isVolatile(name)) changed.push(name)
  for (const name in right) if (!Object.hasOwn(left, name) && !isVolatile(name)) changed.push(name)
  return changed.sort().slice(0, MAX_NAMES)
}

/** The value of an attribute, whatever it is called. */
const own = (attributes: TreeSpan['attributes'], name: string): unknown =>
  Object.hasOwn(attributes, name) ? attributes[name] : undefined

const VALUE_CHARS = 200

/** A value as a comparison holds it: text and anything made of parts as text that may be cut. */
const displayValue = (value: unknown): AttributeValue => {
  if (value === undefined || value === null) return null
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return value
  return cutText(typeof value === 'string' ? value : textOf(value), VALUE_CHARS)
}

const isChanged = (one: unknown, other: unknown): boolean =>
  one !== other && (typeof one !== 'object' || typeof other !== 'object' || textOf(one) !== textOf(other))

/** Integers of any size stay apart. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part))
