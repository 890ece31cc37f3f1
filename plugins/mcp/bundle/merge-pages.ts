import {
  applyEdits,
  isScanFault,
  type JsonValue,
  memberIn,
  removalsFrom,
  removeMembers,
  scanJson,
  setMember,
  sourceOf,
  stringIn,
} from 'guard-gateway/lib/json'
import type { ListKind } from './kinds.ts'

/** An entry of a list, and its server's own name for it. */
interface Entry {
  readonly value: JsonValue
  readonly name: JsonValue
  readonly own: string
}

/** One page of one server's list. */
export interface ListPage {
  readonly text: string
  readonly root: JsonValue
  readonly list: JsonValue
  /** Entries without a name are not among them. */
  readonly entries: readonly Entry[]
  readonly next: string | undefined
}

/** Reads the result of a list; undefined if it is none, or if two parsers could read it differently. */
export const readPage = ({ kind, key }: ListKind, text: string): ListPage | undefined => {
  const scan = scanJson(text)
  if (isScanFault(scan) || scan.duplicate !== undefined) return undefined
  const list = memberIn(scan.root, kind)?.value
  if (list?.items === undefined) return undefined
  const entries = list.items.flatMap((value) => {
    const name = memberIn(value, key)?.value
    const own = stringIn(text, name)
    return name === undefined || own === undefined ? [] : [{ value, name, own }]
  })
  return { text, root: scan.root, list, entries, next: stringIn(text, memberIn(scan.root, 'nextCursor')?.value) }
}

/** A page, and by what name the bundle has an entry; undefined: it does not have it. */
export interface NamedPage {
  readonly page: ListPage
  nameOf(own: string): string | undefined
}

/** Pages of several servers as one result. Of a single page every other character stays; of several, only their entries are taken. */
export const mergedPages = (kind: ListKind, pages: readonly NamedPage[], cursor: string | undefined): string => {
  const [only] = pages
  if (only !== undefined && pages.length === 1) return single(only, cursor)
  const entries = pages.flatMap((page) => entriesOf(page)).join(',')
  return `{${JSON.stringify(kind.kind)}:[${entries}]${cursor === undefined ? '' : `,"nextCursor":${JSON.stringify(cursor)}`}}`
}

const single = ({ page: { text, root, list, entries }, nameOf }: NamedPage, cursor: string | undefined): string => {
  const names = new Map(entries.map((entry) => [entry.value, nameOf(entry.own)]))
  const items = list.items ?? []
  const edits = removalsFrom(list, (index) => {
    const item = items[index]
    return item === undefined || names.get(item) === undefined
  })
  for (const { value, name, own } of entries) {
    const told = names.get(value)
    if (told !== undefined && told !== own) edits.push({ start: name.start, end: name.end, text: JSON.stringify(told) })
  }
  edits.push(
    ...(cursor === undefined
      ? removeMembers(root, ['nextCursor'])
      : [setMember(root, 'nextCursor', JSON.stringify(cursor))]),
  )
  return applyEdits(text, edits)
}

const entriesOf = ({ page: { text, entries }, nameOf }: NamedPage): readonly string[] =>
  entries.flatMap(({ value, name, own }) => {
    const told = nameOf(own)
    if (told === undefined) return []
    if (told === own) return [sourceOf(text, value)]
    return [text.slice(value.start, name.start) + JSON.stringify(told) + text.slice(name.end, value.end)]
  })
