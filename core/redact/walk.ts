import { mark } from './hit.ts'
import { isListOfPairs, isPairValue, listLevels, pairLevel } from './lists.ts'
import { type Level, Levels } from './names.ts'
import { isPlaceholder } from './placeholders.ts'

const MAX_DEPTH = 64
const MAX_NODES = 50_000
/** UTF-16 units of text in one record. */
const MAX_TEXT = 1_048_576

/** What the walk asks of its redactor. */
export interface Walker {
  text(text: string, level: number): string
  levelOf(name: string): Level
  fault(error: unknown): void
}

/** Private members of a JSON Web Key. */
const JWK_PRIVATE = new Set(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'])

type Members = Readonly<Record<string, unknown>>

/** One record on its way through: what it has used of the limits. */
class Walk {
  readonly #walker: Walker
  /** Encodings the record was taken out of. */
  readonly #level: number
  #nodes = 0
  #text = 0

  constructor(walker: Walker, level: number) {
    this.#walker = walker
    this.#level = level
  }

  /** The part with its secrets hidden, itself if it has none; `under` is the level of the name it stands under. */
  part(part: unknown, depth: number, under: Level): unknown {
    if (typeof part === 'string') return this.#string(part, under)
    if (typeof part === 'number' || typeof part === 'bigint') return under === Levels.password ? mark('name') : part
    if (typeof part !== 'object' || part === null || isRawNumber(part)) return part
    this.#nodes++
    if (depth >= MAX_DEPTH || this.#nodes > MAX_NODES) return mark('limit')
    try {
      return Array.isArray(part) ? this.#list(part, depth, under, false) : this.#object(part, depth, under)
    } catch (error) {
      this.#walker.fault(error)
      return mark('fault')
    }
  }

  #string(text: string, under: Level): string {
    if (++this.#nodes > MAX_NODES || this.#text + text.length > MAX_TEXT) return mark('limit')
    const result = under === Levels.none ? this.#redacted(text) : isPlaceholder(text) ? text : mark('name')
    // Marks may be longer than what they hide; counted as they come out, the result stays within the limit.
    this.#text += Math.max(text.length, result.length)
    return this.#text > MAX_TEXT ? mark('limit') : result
  }

  #redacted(text: string): string {
    try {
      return this.#walker.text(text, this.#level)
    } catch (error) {
      this.#walker.fault(error)
      return mark('fault')
    }
  }

  #list(list: readonly unknown[], depth: number, under: Level, pair: boolean): readonly unknown[] {
    const levels = under === Levels.none ? listLevels(list, pair, this.#walker.levelOf) : undefined
    const pairs = under === Levels.none && isListOfPairs(list)
    let copy: unknown[] | undefined
    for (let at = 0; at < list.length; at++) {
      const element = list[at]
      const level = levels?.[at] ?? under
      const result =
        pairs && depth < MAX_DEPTH - 1 ? this.#entry(element, depth + 1) : this.part(element, depth + 1, level)
      if (!Object.is(result, element)) {
        copy ??= list.slice()
        copy[at] = result
      }
    }
    return copy ?? list
  }

  /** An entry of a list of pairs. */
  #entry(entry: unknown, depth: number): unknown {
    this.#nodes++
    return this.#nodes > MAX_NODES ? mark('limit') : this.#list(entry as readonly unknown[], depth, Levels.none, true)
  }

  #object(object: object, depth: number, under: Level): unknown {
    const form = jsonForm(object)
    if (form !== object) {
      const result = this.part(form, depth, under)
      return result === form ? object : result
    }
    const members = object as Members
    const keys = keysOf(object)
    const paired = pairLevel(members, keys, this.#walker.levelOf)
    const isPrivateJwk = typeof members.kty === 'string'
    let changed = false
    const entries = keys.map((key): readonly [string, unknown] => {
      const value = members[key]
      // A name is judged as it will stand, so that a second look judges alike.
      const name = this.#redacted(key)
      const result = this.part(value, depth + 1, this.#levelOfMember(name, under, paired, isPrivateJwk))
      changed ||= !Object.is(result, value) || name !== key
      return [name, result]
    })
    return changed ? rebuilt(object, entries) : object
  }

  #levelOfMember(key: string, under: Level, paired: Level, isPrivateJwk: boolean): Level {
    if (under !== Levels.none) return under
    if (paired !== Levels.none && isPairValue(key)) return paired
    return isPrivateJwk && JWK_PRIVATE.has(key) ? Levels.certain : this.#walker.levelOf(key)
  }
}

/** A number kept as it was written (`JSON.rawJSON`). */
const isRawNumber = (JSON as { isRawJSON?: (value: unknown) => boolean }).isRawJSON ?? (() => false)

/** What JSON makes of an object that speaks for itself, such as URL or Date; bytes and plain objects are what they are. */
const jsonForm = (object: object): unknown => {
  if ('toJSON' in object && typeof object.toJSON === 'function' && !ArrayBuffer.isView(object)) return object.toJSON()
  if (object instanceof Map) return Object.fromEntries(object)
  return object instanceof Set ? [...object] : object
}

/** The members that are walked: all of a plain object's own, and what an error says. */
const keysOf = (object: object): readonly string[] => {
  if (ArrayBuffer.isView(object) || object instanceof ArrayBuffer) return []
  const keys = Object.keys(object)
  return object instanceof Error
    ? [...new Set(['message', 'stack', 'cause', ...keys])].filter((key) => key in object)
    : keys
}

/** An object of the same prototype with these members; names that became equal are told apart. */
const rebuilt = (object: object, entries: readonly (readonly [name: string, value: unknown])[]): object => {
  const copy: object = Object.create(Object.getPrototypeOf(object))
  for (const [name, value] of entries) {
    let free = name
    for (let count = 2; Object.hasOwn(copy, free); count++) free = `${name}#${count}`
    Object.defineProperty(copy, free, { value, enumerable: true, configurable: true, writable: true })
  }
  return copy
}

/** `value` with every secret in its names and values hidden, itself if there are none; bounded, and total. */
export const walk = (value: unknown, walker: Walker, level: number): unknown =>
  new Walk(walker, level).part(value, 0, Levels.none)
