/** The keys of a pointer; `*` as a whole segment stands for every member or element. */
export type Segments = readonly string[]

/** Replaces a section of the text. */
interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** Gives the JSON that is in place of a value's JSON; undefined leaves it. */
export type Replace = (json: string) => string | undefined

const isIndex = (segment: string): boolean => /^(0|[1-9][0-9]{0,9})$/.test(segment)

/** Where the containers start that would hold what the segments name. */
const containersOf = (text: string, segments: Segments): readonly number[] => {
  let opens: readonly number[] = [skipBlanks(text, 0)]
  for (const segment of segments.slice(0, -1)) {
    opens = opens.flatMap((open) => namedParts(partsOf(text, open), segment).map((part) => part.from))
  }
  return opens
}

/** The parts of each container that the segments name. */
const partsAt = (text: string, segments: Segments): readonly (readonly Part[])[] =>
  containersOf(text, segments).map((open) => namedParts(partsOf(text, open), segments.at(-1) ?? ''))

const namedParts = (parts: readonly Part[], segment: string): readonly Part[] => {
  if (segment === '*') return parts
  const part = isList(parts)
    ? parts[isIndex(segment) ? Number(segment) : parts.length]
    : parts.find(({ name }) => name === segment)
  return part === undefined ? [] : [part]
}

const isList = (parts: readonly Part[]): boolean => parts.length > 0 && parts[0]?.name === undefined

const edited = (text: string, edits: readonly Edit[]): string => {
  const pieces: string[] = []
  let at = 0
  for (const edit of edits.toSorted((a, b) => a.from - b.from)) {
    pieces.push(text.slice(at, edit.from), edit.text)
    at = edit.to
  }
  return pieces.join('') + text.slice(at)
}

/** The text with each value at the segments replaced. */
export const replaceAt = (text: string, segments: Segments, replace: Replace): string => {
  const edits = partsAt(text, segments)
    .flat()
    .flatMap(({ from, to }): readonly Edit[] => {
      const json = replace(text.slice(from, to))
      return json === undefined ? [] : [{ from, to, text: json }]
    })
  return edits.length === 0 ? text : edited(text, edits)
}

/** The text without the members and elements at the segments, each with one comma beside it. */
export const removeAt = (text: string, segments: Segments): string => {
  const edits = containersOf(text, segments).flatMap((open) => {
    const parts = partsOf(text, open)
    return removals(parts, new Set(namedParts(parts, segments.at(-1) ?? '')))
  })
  return edits.length === 0 ? text : edited(text, edits)
}

/** A part after one that stays takes the comma before it along, any other the comma after it. */
const removals = (parts: readonly Part[], leaving: ReadonlySet<Part>): readonly Edit[] => {
  const firstStaying = parts.findIndex((part) => !leaving.has(part))
  return parts.flatMap((part, index): readonly Edit[] => {
    if (!leaving.has(part)) return []
    const stayed = firstStaying !== -1 && firstStaying < index
    return stayed
      ? [{ from: parts[index - 1]?.to ?? part.start, to: part.to, text: '' }]
      : [{ from: part.start, to: parts[index + 1]?.start ?? part.to, text: '' }]
  })
}

/** The text with the value at the segments, where its container is there: replaced, or added as the last one. */
export const setAt = (text: string, segments: Segments, json: string): string => {
  const replaced = replaceAt(text, segments, () => json)
  const name = segments.at(-1) ?? ''
  if (name === '*') return replaced
  const edits = containersOf(replaced, segments).flatMap((open) => addition(replaced, open, name, json))
  return edits.length === 0 ? replaced : edited(replaced, edits)
}

/** In a list only what continues it can be added, in a scalar nothing. */
const addition = (text: string, open: number, name: string, json: string): readonly Edit[] => {
  const parts = partsOf(text, open)
  const list = text[open] === '['
  if (namedParts(parts, name).length > 0 || (list ? name !== String(parts.length) : text[open] !== '{')) return []
  const at = parts.at(-1)?.to ?? open + 1
  const comma = parts.length === 0 ? '' : ','
  return [{ from: at, to: at, text: `${comma}${list ? '' : `${JSON.stringify(name)}:`}${json}` }]
}

/** A member of an object or an element of an array in the source text. */
interface Part {
  /** Undefined in an array. */
  readonly name: string | undefined
  /** Offset of the name, or of the value in an array. */
  readonly start: number
  /** Offsets of the value. */
  readonly from: number
  readonly to: number
}

const BLANKS = /[ \t\n\r]*/y
const SCALAR = /[^,\]}\s]*/y
const MARK = /["[\]{}]/g

const after = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at
  pattern.test(text)
  return pattern.lastIndex
}

/** The offset of the first character at or after `at` that is no blank. */
const skipBlanks = (text: string, at: number): number => after(BLANKS, text, at)

const stringEnd = (text: string, open: number): number => {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return text.length
}

const collectionEnd = (text: string, open: number): number => {
  let depth = 0
  MARK.lastIndex = open
  for (let mark = MARK.exec(text); mark !== null; mark = MARK.exec(text)) {
    if (mark[0] === '"') MARK.lastIndex = stringEnd(text, mark.index)
    else depth += mark[0] === '{' || mark[0] === '[' ? 1 : -1
    if (depth === 0) return MARK.lastIndex
  }
  return text.length
}

const valueEnd = (text: string, at: number): number => {
  if (text[at] === '"') return stringEnd(text, at)
  return text[at] === '{' || text[at] === '[' ? collectionEnd(text, at) : after(SCALAR, text, at)
}

/** The members or elements of the value that starts at `open` in valid JSON; none if it is a scalar. */
const partsOf = (text: string, open: number): readonly Part[] => {
  const kind = text[open]
  if (kind !== '{' && kind !== '[') return []
  const parts: Part[] = []
  let at = skipBlanks(text, open + 1)
  while (at < text.length && text[at] !== '}' && text[at] !== ']') {
    const start = at
    let name: string | undefined
    if (kind === '{') {
      const end = stringEnd(text, at)
      name = JSON.parse(text.slice(at, end)) as string
      at = skipBlanks(text, skipBlanks(text, end) + 1)
    }
    const to = valueEnd(text, at)
    parts.push({ name, start, from: at, to })
    at = skipBlanks(text, to)
    if (text[at] === ',') at = skipBlanks(text, at + 1)
  }
  return parts
}
