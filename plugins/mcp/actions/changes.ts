import { type Part, partsOf, skipBlanks } from './spans.ts'

/** The keys of a pointer; `*` as a whole segment stands for every member or element. */
export type Segments = readonly string[]

export const segmentsOf = (pointer: string): Segments =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))

/** Replaces a stretch of the text. */
interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** Gives the JSON that stands in place of a value's JSON; undefined leaves it. */
export type Replace = (json: string) => string | undefined

const isIndex = (segment: string): boolean => /^(0|[1-9][0-9]{0,9})$/.test(segment)

/** Where the containers begin that would hold what the segments name. */
const containersOf = (text: string, segments: Segments): readonly number[] => {
  let opens: readonly number[] = [skipBlanks(text, 0)]
  for (const segment of segments.slice(0, -1)) {
    opens = opens.flatMap((open) => {
      const parts = partsOf(text, open)
      return matching(text, open, segment).map((index) => parts[index]?.from ?? open)
    })
  }
  return opens
}

/** What stands at the segments: the container, and which of its parts. */
const placesOf = (text: string, segments: Segments): readonly { readonly open: number; readonly index: number }[] =>
  containersOf(text, segments).flatMap((open) =>
    matching(text, open, segments.at(-1) ?? '').map((index) => ({ open, index })),
  )

const matching = (text: string, open: number, segment: string): readonly number[] => {
  const parts = partsOf(text, open)
  if (segment === '*') return [...parts.keys()]
  if (text[open] === '[') return isIndex(segment) && Number(segment) < parts.length ? [Number(segment)] : []
  const found = parts.findIndex(({ name }) => name === segment)
  return found === -1 ? [] : [found]
}

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
  const edits: Edit[] = []
  for (const { open, index } of placesOf(text, segments)) {
    const part = partsOf(text, open)[index]
    const json = part === undefined ? undefined : replace(text.slice(part.from, part.to))
    if (part !== undefined && json !== undefined) edits.push({ from: part.from, to: part.to, text: json })
  }
  return edits.length === 0 ? text : edited(text, edits)
}

/** The text without the members and elements at the segments, each with one comma beside it. */
export const removeAt = (text: string, segments: Segments): string => {
  const containers = Map.groupBy(placesOf(text, segments), (place) => place.open)
  const edits = [...containers].flatMap(([open, places]) =>
    removals(partsOf(text, open), new Set(places.map(({ index }) => index))),
  )
  return edits.length === 0 ? text : edited(text, edits)
}

/** A part behind one that stays takes the comma before it along, any other the comma after it. */
const removals = (parts: readonly Part[], leaving: ReadonlySet<number>): readonly Edit[] => {
  const firstStaying = parts.findIndex((_part, index) => !leaving.has(index))
  return parts.flatMap((part, index): readonly Edit[] => {
    if (!leaving.has(index)) return []
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
  const edits = containersOf(replaced, segments)
    .filter((open) => name !== '*' && matching(replaced, open, name).length === 0)
    .flatMap((open) => addition(replaced, open, name, json))
  return edits.length === 0 ? replaced : edited(replaced, edits)
}

/** In a list only what continues it can be added, in a scalar nothing. */
const addition = (text: string, open: number, name: string, json: string): readonly Edit[] => {
  const parts = partsOf(text, open)
  const isList = text[open] === '['
  if (isList ? name !== String(parts.length) : text[open] !== '{') return []
  const at = parts.at(-1)?.to ?? open + 1
  const comma = parts.length === 0 ? '' : ','
  return [{ from: at, to: at, text: `${comma}${isList ? '' : `${JSON.stringify(name)}:`}${json}` }]
}
