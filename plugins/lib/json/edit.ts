import {
  isScanFault,
  type JsonMember,
  type JsonValue,
  pointerKeys,
  QUOTE,
  type ScanOptions,
  scanJson,
  stringBetween,
} from './scan.ts'

/** Puts `text` in the place of the characters from `start` to `end`. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The text with edits that do not overlap, in any order; every other character stays. */
export const applyEdits = (text: string, edits: readonly Edit[]): string => {
  let out = ''
  let from = 0
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    out += text.slice(from, edit.start) + edit.text
    from = edit.end
  }
  return from === 0 ? text : out + text.slice(from)
}

/** The member of this name; undefined if there is none or the value is no object. */
export const memberIn = (value: JsonValue | undefined, name: string): JsonMember | undefined =>
  value?.members?.find((member) => member.name === name)

/** The source text of a value. */
export const sourceOf = (text: string, value: JsonValue): string => text.slice(value.start, value.end)

/** The string that a value is; undefined if it is none. */
export const stringIn = (text: string, value: JsonValue | undefined): string | undefined =>
  value !== undefined && text.charCodeAt(value.start) === QUOTE
    ? stringBetween(text, value.start, value.end)
    : undefined

/** Takes some members of an object, or some items of an array, out of the text, each with one comma. */
export const removalsFrom = (value: JsonValue, gone: (index: number) => boolean): Edit[] => {
  const spans = value.members?.map((member) => ({ start: member.at, end: member.value.end })) ?? value.items ?? []
  const edits: Edit[] = []
  let hasPrevious = false
  for (const [index, { start, end }] of spans.entries()) {
    if (!gone(index)) {
      hasPrevious = true
      continue
    }
    const before = spans[index - 1]
    if (hasPrevious && before !== undefined) edits.push({ start: before.end, end, text: '' })
    else edits.push({ start, end: spans[index + 1]?.start ?? end, text: '' })
  }
  return edits
}

/** Takes the members of these names out of an object. */
export const removeMembers = (value: JsonValue, names: readonly string[]): Edit[] =>
  removalsFrom(value, (index) => names.includes(value.members?.[index]?.name ?? ''))

/** Gives a member of an object this JSON text as its value; adds the member after the others if it is not there. */
export const setMember = (value: JsonValue, name: string, json: string): Edit => {
  const present = memberIn(value, name)
  if (present !== undefined) return { start: present.value.start, end: present.value.end, text: json }
  const last = value.members?.at(-1)
  const at = last?.value.end ?? value.start + 1
  return { start: at, end: at, text: `${last === undefined ? '' : ','}${JSON.stringify(name)}:${json}` }
}

/** The value that a JSON pointer leads to; undefined if there is none. */
export const valueAt = (root: JsonValue, pointer: string): JsonValue | undefined =>
  pointerKeys(pointer).reduce<JsonValue | undefined>(childOf, root)

const childOf = (value: JsonValue | undefined, key: string): JsonValue | undefined =>
  value?.items === undefined ? memberIn(value, key)?.value : value.items[indexOf(key)]

const indexOf = (key: string): number => (/^(?:0|[1-9][0-9]{0,8})$/.test(key) ? Number(key) : -1)

/** The text with this JSON text as the value at the pointer; the last key of an object is made if it is not there, and where no parent is nothing changes. */
export const setAt = (text: string, pointer: string, json: string, options?: ScanOptions): string => {
  const { parent, key } = placeOf(text, pointer, options)
  if (parent === undefined) return text
  if (key === undefined) return applyEdits(text, [{ start: parent.start, end: parent.end, text: json }])
  if (parent.members !== undefined) return applyEdits(text, [setMember(parent, key, json)])
  const item = parent.items?.[indexOf(key)]
  return item === undefined ? text : applyEdits(text, [{ start: item.start, end: item.end, text: json }])
}

/** The text without the member or item at the pointer; as it is if there is none. */
export const removeAt = (text: string, pointer: string, options?: ScanOptions): string => {
  const { parent, key } = placeOf(text, pointer, options)
  if (parent === undefined || key === undefined) return text
  if (parent.members !== undefined) return applyEdits(text, removeMembers(parent, [key]))
  return applyEdits(
    text,
    removalsFrom(parent, (index) => index === indexOf(key)),
  )
}

/** The container of what a pointer names, and its key in it; no key for the whole text. Throws SyntaxError for what is no JSON. */
const placeOf = (text: string, pointer: string, options: ScanOptions = {}) => {
  const scan = scanJson(text, options)
  if (isScanFault(scan)) throw new SyntaxError(`Expected ${scan.expected} at character ${scan.at}.`)
  const keys = pointerKeys(pointer)
  const key = keys.pop()
  return { parent: keys.reduce<JsonValue | undefined>(childOf, scan.root), key }
}
