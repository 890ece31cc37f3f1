import { GuardError } from 'guard-gateway/core'
import type { ImportSource } from '#lib/export-format'
import { JsonMarks, type JsonPath, mark, readJson } from '#lib/json'
import { textOf } from './file.ts'
import { ImportFault, type ImportLocation, lineAndPointer } from './import-fault.ts'
import { parseImport } from './text.ts'

/** A part of a JSON file that was read on its own: an element of a list, or what is around such lists. */
export interface JsonElement {
  readonly path: JsonPath
  /** Line of the file on which `text` starts. */
  readonly line: number
  /** Its own JSON, in which the lists that were read apart are empty. */
  readonly text: string
  readonly value: unknown
}

/**
 * The elements of the named lists of a JSON file one by one, and after those of each list what held them, the whole last;
 * those that are wanted alone, others are not even parsed.
 * Throws TOO_DEEP, INVALID_JSON with line and column, and INVALID_IMPORT for bytes that are no text.
 */
export function* jsonElements(
  file: ImportSource,
  lists: Lists,
  maxDepth: number,
  wants: (path: JsonPath) => boolean = all,
): Generator<JsonElement> {
  try {
    for (const part of partsOf(file, new Splitter(lists, maxDepth)))
      if (wants(part.path)) yield { ...part, value: readJson(part.text) }
  } catch (error) {
    if (!(error instanceof Broken || error instanceof SyntaxError)) throw error
    // where it is broken only a look at the whole text can tell
    parseImport(file.text(), maxDepth)
    throw new GuardError('INVALID_JSON', 'The file is no JSON.', { line: 1, cause: error })
  }
}

const all = (): boolean => true

function* partsOf(file: ImportSource, splitter: Splitter) {
  for (const chunk of file.chunks()) {
    splitter.feed(chunk)
    yield* splitter.taken()
  }
  splitter.end()
  yield* splitter.taken()
}

/** Line and pointer of a place inside an element. */
export const locationInElement = (
  { path, line, text }: JsonElement,
  place: ImportLocation,
): { line: number; path: string } => {
  const within = lineAndPointer(text, { path: place.path.slice(path.length) })
  return { line: line + within.line - 1, path: lineAndPointer('', { ...place, line: 1 }).path }
}

/** The GuardError that a fault becomes, with line and pointer; any other error as it is. */
export const errorAt = (error: unknown, placed: (place: ImportLocation) => { line: number; path: string }): unknown => {
  if (!(error instanceof ImportFault)) return error
  const { line, path } = placed(error.place)
  return new GuardError(error.entry, `Line ${line}${path === '' ? '' : `, ${path}`}: ${error.message}`, { line, path })
}

/** Members whose value is a list that is read element by element, each with those that its elements have. */
interface Lists {
  readonly [member: string]: Lists
}

/** The text is no JSON, or nests too deep. */
class Broken extends Error {}

/** A piece of the text and where it is. */
interface Part {
  readonly path: JsonPath
  readonly line: number
  readonly text: string
}

interface Frame {
  readonly isList: boolean
  readonly path: JsonPath
  /** Of an object its own, of a list those of its elements. */
  readonly lists: Lists
  /** The elements hold lists themselves, and are taken apart. */
  readonly opens: boolean
  parts: Uint8Array[]
  /** Line on which the text in hand starts. */
  line: number
  /** Of a list: elements so far, and whether one was taken since the last comma. */
  index: number
  taken: boolean
  /** Of an object: the member in hand. */
  member: string | undefined
  isName: boolean
}

const isEmpty = (lists: Lists): boolean => {
  for (const _member in lists) return false
  return true
}

const frame = (isList: boolean, path: JsonPath, lists: Lists, line: number): Frame => ({
  isList,
  path,
  lists,
  opens: !isEmpty(lists),
  parts: [],
  line,
  index: 0,
  taken: false,
  member: undefined,
  isName: !isList,
})

/** Splits a JSON text as it arrives. It checks no more than it needs: its output is to be parsed. */
class Splitter {
  readonly #maxDepth: number
  readonly #marks = new JsonMarks()
  readonly #above: Frame[] = []
  #top: Frame
  /** Brackets that are open inside of what is in hand. */
  #inner = 0
  #line = 1
  #chunk: Uint8Array = new Uint8Array(0)
  #from = 0
  #name: Uint8Array[] | undefined
  #nameFrom = 0
  #done: Part[] = []

  constructor(lists: Lists, maxDepth: number) {
    this.#maxDepth = maxDepth
    // the text as a list of one
    this.#top = frame(true, [], lists, 1)
  }

  /** Throws Broken. */
  feed(chunk: Uint8Array): void {
    this.#chunk = chunk
    this.#from = 0
    this.#nameFrom = 0
    const marks = this.#marks
    marks.feed(chunk)
    for (let byte = marks.next(); byte !== 0; byte = marks.next()) this.#mark(byte, marks.at)
    this.#keep(chunk.length)
    this.#name?.push(chunk.subarray(this.#nameFrom))
  }

  /** There is no more. Throws Broken. */
  end(): void {
    if (this.#above.length > 0 || this.#inner > 0) throw new Broken('The text ends early.')
    this.#takeRest(0)
    if (!this.#top.taken) throw new Broken('There is no text.')
  }

  /** What has become complete since. */
  taken(): readonly Part[] {
    const done = this.#done
    this.#done = []
    return done
  }

  #mark(byte: number, at: number): void {
    if (byte === mark.line) this.#line++
    else if (byte === mark.string || byte === mark.stringEnd) this.#quote(byte, at)
    else if (byte === mark.object || byte === mark.array) this.#open(byte, at)
    else if (byte === mark.comma) this.#comma(at)
    else this.#close(byte, at)
  }

  #quote(byte: number, at: number): void {
    const top = this.#top
    if (byte === mark.string) {
      if (this.#inner > 0 || !top.isName) return
      this.#name = []
      this.#nameFrom = at
    } else if (this.#name !== undefined) {
      top.member = String(JSON.parse(textOf([...this.#name, this.#chunk.subarray(this.#nameFrom, at + 1)])))
      top.isName = false
      this.#name = undefined
    }
  }

  #open(byte: number, at: number): void {
    if (this.#above.length + this.#inner >= this.#maxDepth) throw new Broken('The text nests too deep.')
    const top = this.#top
    if (this.#inner === 0 && top.isList && top.opens && byte === mark.object) this.#openElement(at)
    else if (this.#inner === 0 && !top.isList && byte === mark.array) this.#openMember(at)
    else this.#inner++
  }

  #openElement(at: number): void {
    const top = this.#top
    this.#keep(at)
    if (top.taken || !isBlank(top.parts)) throw new Broken('A comma is missing.')
    this.#push(frame(false, this.#elementPath(), top.lists, this.#line), at)
  }

  #openMember(at: number): void {
    const { member, lists, path } = this.#top
    const below = member !== undefined && Object.hasOwn(lists, member) ? lists[member] : undefined
    if (below === undefined || member === undefined) {
      this.#inner++
      return
    }
    this.#keep(at + 1)
    this.#push(frame(true, [...path, member], below, this.#line), at + 1)
  }

  #push(next: Frame, from: number): void {
    this.#above.push(this.#top)
    this.#top = next
    this.#from = from
  }

  #comma(at: number): void {
    if (this.#inner > 0) return
    const top = this.#top
    if (!top.isList) {
      top.isName = true
      return
    }
    if (this.#above.length === 0) throw new Broken('There is more than one value.')
    this.#takeRest(at)
    if (!top.taken) throw new Broken('A value is missing.')
    top.taken = false
    top.index++
    this.#begin(at + 1)
  }

  #close(byte: number, at: number): void {
    if (this.#inner > 0) {
      this.#inner--
      return
    }
    const top = this.#top
    if (top.isList !== (byte === mark.arrayEnd)) throw new Broken('A bracket does not fit.')
    const above = this.#above.at(-1)
    if (above === undefined) throw new Broken('There is a bracket too many.')
    if (top.isList) this.#takeRest(at)
    else this.#keep(at + 1)
    if (top.isList && top.index > 0 && !top.taken) throw new Broken('A value is missing.')
    this.#above.pop()
    this.#top = above
    if (top.isList) this.#resume(above, at)
    else {
      this.#done.push({ path: top.path, line: top.line, text: textOf(top.parts) })
      above.taken = true
      this.#begin(at + 1)
    }
  }

  /** Back in the object that held a list; its lines count although they stand elsewhere. */
  #resume(above: Frame, at: number): void {
    const before = above.parts.reduce((lines, part) => lines + linesIn(part), above.line)
    if (this.#line > before) above.parts.push(Buffer.alloc(this.#line - before, mark.line))
    this.#from = at
  }

  /** What is in a list up to here, if it is an element. */
  #takeRest(at: number): void {
    const top = this.#top
    this.#keep(at)
    const blank = isBlank(top.parts)
    if (top.taken) {
      if (!blank) throw new Broken('A comma is missing.')
    } else if (!blank) {
      this.#done.push({ path: this.#elementPath(), line: top.line, text: textOf(top.parts) })
      top.taken = true
    }
    top.parts = []
  }

  #elementPath(): JsonPath {
    return this.#above.length === 0 ? [] : [...this.#top.path, this.#top.index]
  }

  #begin(at: number): void {
    this.#top.parts = []
    this.#top.line = this.#line
    this.#from = at
  }

  #keep(to: number): void {
    if (to > this.#from) this.#top.parts.push(this.#chunk.subarray(this.#from, to))
    this.#from = to
  }
}

const isBlank = (parts: readonly Uint8Array[]): boolean =>
  parts.every((part) => part.every((byte) => byte === 32 || byte === 10 || byte === 13 || byte === 9))

const linesIn = (part: Uint8Array): number => {
  let lines = 0
  for (let at = part.indexOf(mark.line); at !== -1; at = part.indexOf(mark.line, at + 1)) lines++
  return lines
}
