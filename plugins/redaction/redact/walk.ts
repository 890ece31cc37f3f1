import { passwordOptions } from './commands.ts'
import { mark } from './hit.ts'
import { type Level, Levels } from './names.ts'
import { isFolder, isSecretNumber, isSecretUnder } from './opaque.ts'
import { isOdd } from './placeholders.ts'
import { WorkLimit } from './work.ts'

const MAX_DEPTH = 64
const MAX_NODES = 50_000
/** UTF-16 units of text in one record. */
const MAX_TEXT = 1_048_576

/** What the walk asks of its redactor. */
export interface Walker {
  text(text: string, level: number): string
  levelOf(name: string): Level
  fault(error: unknown): void
  /** A whole text was hidden for the name it stands under. */
  hidden(text: string): void
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
    if (typeof part === 'number' || typeof part === 'bigint') return isSecretNumber(under, part) ? mark('name') : part
    if (typeof part !== 'object' || part === null || isRawNumber(part)) return part
    this.#nodes++
    return depth >= MAX_DEPTH || this.#nodes > MAX_NODES ? mark('limit') : this.#whole(part, depth, under)
  }

  #whole(part: object, depth: number, under: Level): unknown {
    try {
      if (Array.isArray(part)) return this.#list(part, depth, under, false)
      return this.#object(part, depth, under < Levels.likely ? Levels.none : under)
    } catch (error) {
      return this.#hidden(error)
    }
  }

  /** What stands for a part that could not be examined. Inside a text, the whole text is hidden for what it costs. */
  #hidden(error: unknown): string {
    if (error instanceof WorkLimit) {
      if (this.#level > 0) throw error
      return mark('limit')
    }
    this.#walker.fault(error)
    return mark('fault')
  }

  #string(text: string, under: Level): string {
    if (++this.#nodes > MAX_NODES || this.#text + text.length > MAX_TEXT) return mark('limit')
    const isSecret = isSecretUnder(under, text)
    if (isSecret) this.#walker.hidden(text)
    const result = isSecret ? mark('name') : under < Levels.likely ? this.#redacted(text) : text
    // Marks may be longer than what they hide; counted as they come out, the result stays within the limit.
    this.#text += Math.max(text.length, result.length)
    return this.#text > MAX_TEXT ? mark('limit') : result
  }

  #redacted(text: string): string {
    try {
      return this.#walker.text(text, this.#level)
    } catch (error) {
      return this.#hidden(error)
    }
  }

  #list(list: readonly unknown[], depth: number, under: Level, pair: boolean): readonly unknown[] {
    const levels = under < Levels.likely ? listLevels(list, pair, this.#walker.levelOf) : undefined
    const pairs = under < Levels.likely && isListOfPairs(list)
    let copy: unknown[] | undefined
    for (let at = 0; at < list.length; at++) {
      const element = list[at]
      const level = levels?.[at] || under
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
    const describes = under !== Levels.none && isSchema(object)
    let changed = false
    const entries = keys.map((key): readonly [string, unknown] => {
      const value = members[key]
      // A name is judged as it will stand, so that a second look judges alike.
      const name = this.#redacted(key)
      const level = describes && isKeyword(name) ? Levels.none : this.#levelOfMember(name, under, paired, members)
      const result = isPlain(name, value) ? value : this.part(value, depth + 1, level)
      changed ||= !Object.is(result, value) || name !== key
      return [name, result]
    })
    return changed ? rebuilt(object, entries) : object
  }

  #levelOfMember(
    key: string,
    under: Level,
    paired: Level,
    { kty, selector, locator, element, target }: Members,
  ): Level {
    if (under !== Levels.none) return under
    if (paired !== Levels.none && isPairValue(key)) return paired
    // what is typed into a field
    const typed = typeof (selector ?? locator ?? element ?? target) === 'string'
    if (paired !== Levels.none && /^(?:text|content)$/i.test(key))
      return typed && key === 'text' ? paired : Levels.opaque
    return typeof kty === 'string' && JWK_PRIVATE.has(key) ? Levels.certain : this.#walker.levelOf(key)
  }
}

/** The folder a shell is in, and an identifier of digits alone, which is no card number. */
const isPlain = (name: string, value: unknown): boolean => {
  if (typeof value !== 'string') return false
  if (name.length < 7 && /^(?:old)?pwd$/i.test(name)) return isFolder(value)
  return value.length >= 13 && value.length <= 20 && /^\d+$/.test(value) && /id$/i.test(name)
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

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])

/** Keywords of JSON Schema and OpenAPI that say what a value must be like, not what it is. */
const KEYWORDS = new Set(
  'type format title description $ref $id $schema $comment $anchor minLength maxLength pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems minProperties maxProperties required properties patternProperties additionalProperties propertyNames items prefixItems contains anyOf oneOf allOf not if then else dependentRequired dependentSchemas unevaluatedProperties nullable deprecated readOnly writeOnly contentEncoding contentMediaType discriminator'.split(
    ' ',
  ),
)

const isType = (type: unknown): boolean =>
  Array.isArray(type) ? type.length > 0 && type.every(isType) : typeof type === 'string' && TYPES.has(type)

/** The object describes a value: a schema of a tool's parameter stands here rather than the parameter. */
const isSchema = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const { type, $ref, anyOf, oneOf, allOf } = value as Readonly<Record<string, unknown>>
  if (typeof $ref === 'string') return $ref.startsWith('#') || $ref.endsWith('.json')
  return isType(type) || [anyOf, oneOf, allOf].some((list) => Array.isArray(list) && list.every(isSchema))
}

/** The member of a schema says what is allowed; `default`, `const`, `enum` and examples hold values. */
const isKeyword = (name: string): boolean => KEYWORDS.has(name)

/** The header field names, option names and member names that stand in arrays. */
const FIELD_NAME = /^[A-Za-z][\w-]{0,63}$/
const OPTION = /^--?[A-Za-z][\w.-]{0,63}$/
/** A value that could as well be one more name of a list of names. */
const couldBeName = (value: unknown): boolean => typeof value !== 'string' || (FIELD_NAME.test(value) && !isOdd(value))

/** A program may stand behind `sudo`, `docker` and the like. */
const MAX_BEFORE_PROGRAM = 8

/** Judges whether an element is a name whose value follows it. */
type Judge = (name: string) => Level

const levelOfElement = (list: readonly unknown[], at: number, levelOf: Judge): Level => {
  const name = list[at]
  return typeof name === 'string' && FIELD_NAME.test(name) ? levelOf(name) : Levels.none
}

/** The level of the option an argument stands behind: `--password`, `x`. */
const optionLevel = (list: readonly unknown[], at: number, levelOf: Judge): Level => {
  const option = list[at - 1]
  const value = list[at]
  const follows =
    typeof option === 'string' && OPTION.test(option) && typeof value === 'string' && !value.startsWith('--')
  return follows ? levelOf(option) : Levels.none
}

/** Name, value, name, value …: every name looks like one and some value does not, so that a list of names is none. */
const alternates = (list: readonly unknown[]): boolean => {
  if (list.length === 0 || list.length % 2 !== 0) return false
  let hasValues = false
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at]
    if (typeof name !== 'string' || !FIELD_NAME.test(name)) return false
    hasValues ||= !couldBeName(list[at + 1]) || typeof list[at + 1] !== 'string'
  }
  return hasValues
}

/** For each element how far the one before it makes it a secret; undefined if none does. `pair`: the list is an entry of a list of pairs. */
const listLevels = (list: readonly unknown[], pair: boolean, levelOf: Judge): readonly Level[] | undefined => {
  const commanded = commandLevels(list)
  if (commanded !== undefined) return commanded
  if (!list.some((element) => typeof element === 'string' && levelOf(element) !== Levels.none)) return undefined
  const paired = (pair && list.length === 2) || alternates(list)
  const levels = list.map((_element, at): Level => {
    const option = optionLevel(list, at, levelOf)
    return option === Levels.none && paired && at % 2 === 1 ? levelOfElement(list, at - 1, levelOf) : option
  })
  return levels.some((level) => level !== Levels.none) ? levels : undefined
}

/** The levels of the arguments of a program that takes its password as an option of one letter. */
const commandLevels = (list: readonly unknown[]): readonly Level[] | undefined => {
  const at = list.slice(0, MAX_BEFORE_PROGRAM).findIndex((part) => typeof part === 'string' && isProgram(part))
  const options = at === -1 ? undefined : passwordOptions(String(list[at]))
  if (options === undefined) return undefined
  const isPassword = (element: unknown, index: number): boolean => {
    if (index <= at || typeof element !== 'string') return false
    const before = list[index - 1]
    if (typeof before === 'string' && /^-[A-Za-z]$/.test(before) && options.apart.includes(before.charAt(1)))
      return true
    return element.length > 2 && element.startsWith('-') && options.joined.includes(element.charAt(1))
  }
  const levels = list.map((element, index) => (isPassword(element, index) ? Levels.password : Levels.none))
  return levels.some((level) => level !== Levels.none) ? levels : undefined
}

const isProgram = (part: string): boolean => part.length < 64 && passwordOptions(part) !== undefined

/** Every element is a list of two whose first is a text: the entries of a map or of headers. */
const isListOfPairs = (list: readonly unknown[]): boolean =>
  list.length > 0 && list.every((entry) => Array.isArray(entry) && entry.length === 2 && typeof entry[0] === 'string')

const NAMES = new Set([
  'selector',
  'locator',
  'element',
  'target',
  'ref',
  'name',
  'key',
  'header',
  'id',
  'label',
  'parameterkey',
  'field',
  'title',
])
const VALUES = new Set(['value', 'values', 'val', 'parametervalue'])

/** The level of the name that a `{ name, value }` object holds for its value. */
const pairLevel = (object: Readonly<Record<string, unknown>>, keys: readonly string[], levelOf: Judge): Level => {
  if (!keys.some((key) => VALUES.has(key.toLowerCase()) || /^(?:text|content)$/i.test(key))) return Levels.none
  let level: Level = Levels.none
  for (const key of keys)
    if (level === Levels.none && NAMES.has(key.toLowerCase()) && typeof object[key] === 'string')
      level = levelOf(String(object[key]))
  return level
}

/** The member holds the value of a `{ name, value }` object. */
const isPairValue = (key: string): boolean => VALUES.has(key.toLowerCase())
