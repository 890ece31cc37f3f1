import { keyOfPart, pointerPart } from '#lib/json'
import type { Arguments, CheckFinding } from '#lib/mcp-check'
import { ParserProcessError } from '#lib/parser-process'
import { Pace } from '#lib/time-slice'

/** Time that a check may work for all the values of one call, in milliseconds; others have their turn in between. */
const MAX_WORK_MS = 1_000
/** Time until all of them are judged, in milliseconds, turns of others and work apart included. */
const MAX_WAIT_MS = 10_000
/** What is wrong with a call is shown by the first of its values. */
const MAX_FINDINGS = 100

/** For a value that a check had no time for. */
export const CHECK_TIMED_OUT: Violation = { reason: 'cannot be judged: the check took too long', certain: false }

const unjudged = ({ failure, message }: ParserProcessError): Violation =>
  failure === 'timeout' ? CHECK_TIMED_OUT : { reason: `cannot be judged: ${message}`, certain: false }

type Found = Violation | undefined

/**
 * What a check objects to in values, one after the other: at once, or as a promise where they take more than a turn or one of them
 * is judged elsewhere. When their time is over, the next one gets `CHECK_TIMED_OUT`.
 * A check that works in steps calls `isLate` between them and returns `CHECK_TIMED_OUT`; a value that its parser does not get through (`ParserProcessError`) is refused with the cause.
 */
export const findViolations = <Value extends { readonly pointer: string }>(
  values: Iterable<Value>,
  objection: (value: Value, isLate: () => boolean) => Found | Promise<Found>,
): readonly CheckFinding[] | Promise<readonly CheckFinding[]> => new CheckRun(values, objection).run()

class CheckRun<Value extends { readonly pointer: string }> {
  readonly #values: Iterator<Value>
  readonly #violation: (value: Value, isLate: () => boolean) => Found | Promise<Found>
  readonly #findings: CheckFinding[] = []
  readonly #pace = new Pace()
  readonly #began = performance.now()
  #worked = 0
  #since = this.#began
  #isOver = false

  constructor(values: Iterable<Value>, objection: (value: Value, isLate: () => boolean) => Found | Promise<Found>) {
    this.#values = values[Symbol.iterator]()
    this.#violation = objection
  }

  run(): readonly CheckFinding[] | Promise<readonly CheckFinding[]> {
    for (let value = this.#next(); value !== undefined; value = this.#next()) {
      const found = this.#judged(value)
      if (found instanceof Promise) return this.#inTurns(value, found)
      this.#note(value, found)
      if (this.#pace.due) return this.#inTurns()
    }
    return this.#findings
  }

  async #inTurns(first?: Value, awaited?: Promise<Found>): Promise<readonly CheckFinding[]> {
    if (first !== undefined && awaited !== undefined) this.#note(first, await this.#awaited(awaited))
    else await this.#elsewhere(this.#pace.rest())
    for (let value = this.#next(); value !== undefined; value = this.#next()) {
      const found = this.#judged(value)
      this.#note(value, found instanceof Promise ? await this.#awaited(found) : found)
      if (this.#pace.due) await this.#elsewhere(this.#pace.rest())
    }
    return this.#findings
  }

  #next(): Value | undefined {
    if (this.#isOver) return undefined
    const next = this.#values.next()
    return next.done === true ? undefined : next.value
  }

  #judged(value: Value): Found | Promise<Found> {
    if (!this.#isLate()) return this.#violation(value, this.#isLate)
    this.#isOver = true
    return CHECK_TIMED_OUT
  }

  #note({ pointer }: Value, found: Found): void {
    if (found === undefined) return
    this.#findings.push({ pointer, ...found })
    if (this.#findings.length >= MAX_FINDINGS) this.#isOver = true
  }

  readonly #isLate = (): boolean => {
    const now = performance.now()
    return this.#worked + now - this.#since > MAX_WORK_MS || now - this.#began > MAX_WAIT_MS
  }

  async #awaited(found: Promise<Found>): Promise<Found> {
    try {
      return await this.#elsewhere(found)
    } catch (error) {
      if (error instanceof ParserProcessError) return unjudged(error)
      throw error
    }
  }

  /** Waits for work that does not count as time of the check. */
  async #elsewhere<Answer>(other: Promise<Answer>): Promise<Answer> {
    this.#worked += performance.now() - this.#since
    try {
      return await other
    } finally {
      this.#since = performance.now()
    }
  }
}

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
