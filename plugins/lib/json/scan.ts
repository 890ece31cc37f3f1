/** Why a text is not JSON: what was expected at which character. */
export interface ScanFault {
  readonly at: number
  readonly expected: string
}

/** The result of one pass over a JSON text. */
export interface JsonScan {
  readonly root: JsonValue
  /** A container nests deeper than it may; its inside was stepped over. */
  readonly deep: boolean
  /** JSON pointer of the first member whose name, unescaped, occurs twice in its object. */
  readonly duplicate: string | undefined
}

export interface ScanOptions {
  /** How many levels of containers are recorded with members and items; all if absent. */
  readonly keep?: number
  /** The deepest nesting that is read; 128 if absent. */
  readonly max_depth?: number
}

/** Reads a JSON text in one pass and accepts what `JSON.parse` accepts: where its values stand, whether a name is duplicate, whether it is too deep. */
export const scanJson = (text: string, options: ScanOptions = {}): JsonScan | ScanFault => {
  const scanner = new Scanner(text, options)
  try {
    return scanner.run()
  } catch (error) {
    if (error instanceof Expected) return { at: scanner.at, expected: error.message }
    throw error
  }
}

export const isScanFault = (scan: JsonScan | ScanFault): scan is ScanFault => 'expected' in scan

class Expected extends Error {}

/** From this many names on a set remembers them. */
const MANY_NAMES = 12

interface OpenValue extends JsonValue {
  end: number
}

/** A container that is open at the moment. */
class Level {
  readonly outer: Level | undefined
  readonly close: number
  readonly value: OpenValue | undefined
  readonly isObject: boolean
  fresh = true
  name = ''
  name_at = 0
  index = -1
  readonly #names: string[] = []
  #set: Set<string> | undefined

  constructor(outer: Level | undefined, isObject: boolean, value: OpenValue | undefined) {
    this.outer = outer
    this.isObject = isObject
    this.close = isObject ? 0x7d : 0x5d
    this.value = value
  }

  /** Remembers a name; false if it was there before. */
  take(name: string): boolean {
    if (this.#set !== undefined) return this.#set.size !== this.#set.add(name).size
    if (this.#names.includes(name)) return false
    if (this.#names.push(name) >= MANY_NAMES) this.#set = new Set(this.#names)
    return true
  }
}

class Scanner {
  at = 0
  readonly #text: string
  readonly #keep: number
  readonly #maxDepth: number
  #level: Level | undefined
  #depth = 0
  #root: JsonValue | undefined
  #deep = false
  #duplicate: string | undefined

  constructor(text: string, { keep = Number.POSITIVE_INFINITY, max_depth = 128 }: ScanOptions) {
    this.#text = text
    this.#keep = keep
    this.#maxDepth = max_depth
  }

  run(): JsonScan {
    this.#blanks()
    this.#value()
    while (this.#level !== undefined) this.#step(this.#level)
    if (this.#blanks() === this.#text.length && this.#root !== undefined)
      return { root: this.#root, deep: this.#deep, duplicate: this.#duplicate }
    throw new Expected('the end of the text')
  }

  #blanks(): number {
    for (;;) {
      const unit = this.#text.charCodeAt(this.at)
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return this.at
      this.at++
    }
  }

  /** Reads a complete scalar, or opens a container. */
  #value(): void {
    const start = this.at
    const unit = this.#text.charCodeAt(start)
    if (isContainer(unit)) this.#open(unit === 0x7b)
    else {
      this.at = this.#scalarEnd(unit, start)
      if (this.#depth <= this.#keep) this.#record({ start, end: this.at })
    }
  }

  #scalarEnd(unit: number, start: number): number {
    if (unit === QUOTE) return this.#end(stringEnd(this.#text, start), 'a string')
    if (unit === 0x2d || (unit >= 0x30 && unit <= 0x39)) return this.#end(numberEnd(this.#text, start), 'a number')
    return this.#end(wordEnd(this.#text, start), 'a value')
  }

  #end(end: number, expected: string): number {
    if (end < 0) throw new Expected(expected)
    return end
  }

  #open(isObject: boolean): void {
    const value: OpenValue | undefined = this.#depth <= this.#keep ? this.#container(isObject) : undefined
    if (value !== undefined) this.#record(value)
    if (this.#depth === this.#maxDepth) {
      this.#deep = true
      this.at = this.#stepOver()
      if (value !== undefined) value.end = this.at
      return
    }
    this.#depth++
    this.#level = new Level(this.#level, isObject, value)
    this.at++
  }

  #container(isObject: boolean): OpenValue {
    const start = this.at
    if (this.#depth === this.#keep) return { start, end: start }
    return isObject ? { start, end: start, members: [] } : { start, end: start, items: [] }
  }

  #record(value: JsonValue): void {
    const level = this.#level
    if (level === undefined) this.#root = value
    else if (level.isObject)
      (level.value?.members as JsonMember[] | undefined)?.push({ name: level.name, at: level.name_at, value })
    else (level.value?.items as JsonValue[] | undefined)?.push(value)
  }

  /** The end of a container found by brackets and strings alone. */
  #stepOver(): number {
    let depth = 0
    for (let at = this.at; at < this.#text.length; at++) {
      const unit = this.#text.charCodeAt(at)
      if (unit === QUOTE) at = this.#end(stringEnd(this.#text, at), 'a string') - 1
      else if (isContainer(unit)) depth++
      else if (isClose(unit) && --depth === 0) return at + 1
    }
    throw new Expected('the end of an array or object')
  }

  /** Goes on in a container: to its next value or to its end. */
  #step(level: Level): void {
    const fresh = level.fresh
    level.fresh = false
    this.#blanks()
    const unit = this.#text.charCodeAt(this.at)
    if (unit === level.close) {
      this.#close(level)
      return
    }
    if (!fresh) this.#comma(level, unit)
    if (level.isObject) this.#name(level)
    else level.index++
    this.#value()
  }

  #comma(level: Level, unit: number): void {
    if (unit !== 0x2c) throw new Expected(level.isObject ? 'a comma or }' : 'a comma or ]')
    this.at++
    this.#blanks()
  }

  #close(level: Level): void {
    this.at++
    if (level.value !== undefined) level.value.end = this.at
    this.#depth--
    this.#level = level.outer
  }

  #name(level: Level): void {
    const open = this.at
    if (this.#text.charCodeAt(open) !== QUOTE) throw new Expected('a member name')
    const end = this.#end(stringEnd(this.#text, open), 'a member name')
    level.name = stringBetween(this.#text, open, end)
    level.name_at = open
    if (!level.take(level.name)) this.#duplicate ??= this.#pointer()
    this.at = end
    this.#blanks()
    if (this.#text.charCodeAt(this.at) !== 0x3a) throw new Expected('a colon')
    this.at++
    this.#blanks()
  }

  #pointer(): string {
    let pointer = ''
    for (let level = this.#level; level !== undefined; level = level.outer) {
      const key = level.isObject ? pointerPart(level.name) : String(level.index)
      pointer = `/${key}${pointer}`
    }
    return pointer
  }
}

/** Where a value stands in its JSON text: characters, `start` inclusive, `end` exclusive. An object has `members`, an array `items`, as deep as was asked for. */
export interface JsonValue {
  readonly start: number
  readonly end: number
  readonly members?: readonly JsonMember[]
  readonly items?: readonly JsonValue[]
}

/** A member of an object: its name unescaped, and where the quote stands that opens the name. */
export interface JsonMember {
  readonly name: string
  readonly at: number
  readonly value: JsonValue
}

/** A key as one part of a JSON pointer, without the slash before it. */
export const pointerPart = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

/** The key that one part of a JSON pointer stands for. */
export const keyOfPart = (part: string): string =>
  part.includes('~') ? part.replaceAll('~1', '/').replaceAll('~0', '~') : part

/** The keys of a JSON pointer, unescaped, from the outside inwards. */
export const pointerKeys = (pointer: string): string[] =>
  pointer === '' ? [] : pointer.slice(1).split('/').map(keyOfPart)

export const QUOTE = 0x22
const BACKSLASH = 0x5c

const isContainer = (unit: number): boolean => unit === 0x7b || unit === 0x5b
const isClose = (unit: number): boolean => unit === 0x7d || unit === 0x5d

/** Behind the string that opens at `open`; if it is none, `~` the place where it stops being one. */
export const stringEnd = (text: string, open: number): number => {
  let at = open + 1
  for (;;) {
    let unit = text.charCodeAt(at)
    while (unit !== QUOTE && unit !== BACKSLASH && unit >= 0x20) unit = text.charCodeAt(++at)
    if (unit === QUOTE) return at + 1
    if (unit !== BACKSLASH) return ~at
    const next = escapeEnd(text, at + 1)
    if (next < 0) return ~at
    at = next
  }
}

/** What the string between these places says; both quotes are inside. */
export const stringBetween = (text: string, start: number, end: number): string => {
  const written = text.slice(start + 1, end - 1)
  return written.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : written
}

const ESCAPE = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y

const escapeEnd = (text: string, at: number): number => {
  ESCAPE.lastIndex = at
  return ESCAPE.test(text) ? ESCAPE.lastIndex : -1
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

/** The offset after the number that starts at `at`; -1 if it is none. */
const numberEnd = (text: string, at: number): number => {
  NUMBER.lastIndex = at
  return NUMBER.test(text) ? NUMBER.lastIndex : -1
}

/** The offset after `true`, `false` or `null` at `at`; -1 if none is there. */
const wordEnd = (text: string, at: number): number => {
  for (const word of ['true', 'false', 'null']) if (text.startsWith(word, at)) return at + word.length
  return -1
}
