import type { Arguments, CheckFinding } from 'guard-gateway/core'
import { keyOfPart, pointerPart } from 'guard-gateway/lib/json'

/** A value in the arguments of a tool call; undefined: there is none at this place. */
export interface Pointed {
  /** JSON pointer to this one value, without `*`. */
  readonly pointer: string
  readonly value: unknown
}

const INDEX = /^(0|[1-9][0-9]{0,9})$/

const members = (value: unknown): readonly (readonly [name: string, value: unknown])[] =>
  value !== null && typeof value === 'object' ? Object.entries(value) : []

/** Where a text or number stands in place of a container, what a server takes it for cannot be told: that is something, of no use. */
const beyond = (value: unknown): unknown => (value === undefined || typeof value === 'object' ? undefined : false)

const child = (value: unknown, name: string): unknown => {
  if (value === null || typeof value !== 'object') return beyond(value)
  if (Array.isArray(value)) return INDEX.test(name) ? value[Number(name)] : undefined
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined
}

/**
 * What a JSON pointer meets in the arguments. A whole segment `*` stands for every element of an array or member of an object.
 * There is always at least one answer: where nothing stands, its value is undefined, and false behind a text or number.
 */
export const pointed = (args: Arguments, pointer: string): readonly Pointed[] => {
  // most name a member of the arguments themselves
  if (pointer.lastIndexOf('/') === 0 && pointer !== '/*')
    return [{ pointer, value: child(args, keyOfPart(pointer.slice(1))) }]
  let met: readonly Pointed[] = [{ pointer: '', value: args }]
  for (const segment of pointer.split('/').slice(1)) {
    met = met.flatMap((one): readonly Pointed[] => {
      if (segment !== '*')
        return [{ pointer: `${one.pointer}/${segment}`, value: child(one.value, keyOfPart(segment)) }]
      const below = members(one.value)
      if (below.length === 0) return [{ pointer: `${one.pointer}/*`, value: beyond(one.value) }]
      return below.map(([name, value]) => ({ pointer: `${one.pointer}/${pointerPart(name)}`, value }))
    })
  }
  return met
}

/** The arguments that a check judges, and what is wrong with them before any judging. */
export interface PointedTexts {
  readonly texts: readonly { readonly pointer: string; readonly text: string }[]
  readonly findings: readonly CheckFinding[]
}

/** The strings at some pointers. One that is missing is a finding unless `optional`; one that is no string always is. */
export const pointedTexts = (
  args: Arguments,
  { args: pointers, optional = false }: { readonly args: readonly string[]; readonly optional?: boolean },
): PointedTexts => {
  const texts: { pointer: string; text: string }[] = []
  const findings: CheckFinding[] = []
  for (const { pointer, value } of pointers.flatMap((one) => pointed(args, one))) {
    if (typeof value === 'string') texts.push({ pointer, text: value })
    else if (value !== undefined) findings.push({ pointer, reason: 'must be a string', certain: true })
    else if (!optional) findings.push({ pointer, reason: 'is missing', certain: true })
  }
  return { texts, findings }
}

/** Time that a check may take for all the values of one call, milliseconds: nothing else happens meanwhile. */
const MAX_MS = 250

/** What a check has against one value. */
export type Objection = Omit<CheckFinding, 'pointer'>

/** For a value that the time of a check did not suffice for. */
export const TOOK_TOO_LONG: Objection = { reason: 'cannot be judged: the check took too long', certain: false }

/**
 * What a check objects to in values, one after the other. When the time for them is over, the next one cannot be told.
 * One that is judged in steps asks between them whether it is over, and answers `TOOK_TOO_LONG`.
 */
export const objectionsTo = <Value extends { readonly pointer: string }>(
  values: readonly Value[],
  objection: (value: Value, isLate: () => boolean) => Objection | undefined,
): CheckFinding[] => {
  const until = performance.now() + MAX_MS
  const isLate = (): boolean => performance.now() > until
  const findings: CheckFinding[] = []
  for (const value of values) {
    const late = isLate()
    const found = late ? TOOK_TOO_LONG : objection(value, isLate)
    if (found !== undefined) findings.push({ pointer: value.pointer, ...found })
    if (late) break
  }
  return findings
}
