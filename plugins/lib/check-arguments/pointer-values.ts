import { keyOfPart, pointerPart } from '#lib/json'
import type { Arguments, CheckFinding } from '#lib/mcp-check'

/** A value in the arguments of a tool call; undefined: there is none at this place. */
export interface PointerValue {
  /** JSON pointer to this one value, without `*`. */
  readonly pointer: string
  readonly value: unknown
}

const INDEX = /^(0|[1-9][0-9]{0,9})$/

/** Elements one by one, so that a list of millions is not copied for its first. */
const members = (value: unknown): Iterable<readonly [name: string | number, value: unknown]> => {
  if (value === null || typeof value !== 'object') return []
  return Array.isArray(value) ? value.entries() : Object.entries(value)
}

/** A server may read a text or number where a container is expected in any way: the value is not missing, but unusable. */
const valueBelowScalar = (value: unknown): unknown =>
  value === undefined || typeof value === 'object' ? undefined : false

const child = (value: unknown, name: string): unknown => {
  if (value === null || typeof value !== 'object') return valueBelowScalar(value)
  if (Array.isArray(value)) return INDEX.test(name) ? value[Number(name)] : undefined
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined
}

/**
 * The values that a JSON pointer leads to in the arguments. A whole segment `*` stands for every element of an array or member of an object.
 * There is always at least one answer: where nothing is, its value is undefined, and false after a text or number.
 */
export const valuesAtPointer = (args: Arguments, pointer: string): Iterable<PointerValue> =>
  // most name a member of the arguments themselves
  pointer.lastIndexOf('/') === 0 && pointer !== '/*'
    ? [{ pointer, value: child(args, keyOfPart(pointer.slice(1))) }]
    : descend({ pointer: '', value: args }, pointer.split('/').slice(1))

function* descend(one: PointerValue, [segment, ...rest]: readonly string[]): Generator<PointerValue> {
  if (segment === undefined) return yield one
  if (segment !== '*')
    return yield* descend({ pointer: `${one.pointer}/${segment}`, value: child(one.value, keyOfPart(segment)) }, rest)
  let isEmpty = true
  for (const [name, value] of members(one.value)) {
    isEmpty = false
    yield* descend({ pointer: `${one.pointer}/${pointerPart(String(name))}`, value }, rest)
  }
  if (isEmpty) yield* descend({ pointer: `${one.pointer}/*`, value: valueBelowScalar(one.value) }, rest)
}

/** What a check has against one value. */
export type Violation = Omit<CheckFinding, 'pointer'>

/** A text that a check judges, or what is wrong with the value before any judging. */
export type PointerText =
  | { readonly pointer: string; readonly text: string; readonly wrong?: never }
  | { readonly pointer: string; readonly wrong: Violation; readonly text?: never }

/** The strings at these pointers. A missing one is a violation unless `optional`; a value that is no string always is. */
export function* textsAtPointers(
  args: Arguments,
  { args: pointers, optional = false }: { readonly args: readonly string[]; readonly optional?: boolean },
): Generator<PointerText> {
  for (const one of pointers)
    for (const { pointer, value } of valuesAtPointer(args, one)) {
      if (typeof value === 'string') yield { pointer, text: value }
      else if (value !== undefined) yield { pointer, wrong: { reason: 'must be a string', certain: true } }
      else if (!optional) yield { pointer, wrong: { reason: 'is missing', certain: true } }
    }
}
