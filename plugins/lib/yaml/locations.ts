import type { YamlNode, YamlPair } from './module.ts'

/** Where something is in a text, both from 1. */
export interface YamlLocation {
  readonly line: number
  readonly column: number
}

/** Where the parts of a document stand, without the document: plain enough to be sent to another thread. */
export interface YamlLocations extends YamlLocation {
  /** Members by key, elements by index; absent where there are none. */
  readonly parts?: ReadonlyMap<string | number, YamlLocations>
}

/** Where every part of a checked document is: a member where its key does. `placeAt` turns an offset into a place. */
export const locationsOf = (contents: unknown, placeAt: (offset: number) => YamlLocation): YamlLocations => {
  const places = (node: YamlNode | null | undefined, start: YamlNode | null | undefined): YamlLocations => {
    const place = placeAt(start?.range?.[0] ?? 0)
    const items = node?.items
    if (items === undefined || items.length === 0) return place
    const parts = items.map((item, index): [string | number, YamlLocations] => {
      const { key, value } = item as YamlPair
      if (key === undefined) return [index, places(item as YamlNode, item as YamlNode)]
      return [String((key as YamlNode).value), places(value as YamlNode | null, key as YamlNode)]
    })
    return { ...place, parts: new Map(parts) }
  }
  const node = contents as YamlNode | null
  return places(node, node)
}

/** The location of the deepest existing part of `path`. */
export const locationIn = (document: YamlLocations, path: readonly (string | number)[]): YamlLocation => {
  let found = document
  for (const segment of path) {
    const next = found.parts?.get(segment)
    if (next === undefined) break
    found = next
  }
  return { line: found.line, column: found.column }
}
