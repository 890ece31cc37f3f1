/** As much of the `yaml` package as is used here; the loaded module is handed in, so that core needs no package. */
export interface YamlModule {
  readonly Parser: new () => { parse(text: string): Iterable<unknown> }
  readonly LineCounter: new () => YamlLines
  parseDocument(text: string, options: YamlOptions): YamlDocument
  isMap(node: unknown): boolean
  isSeq(node: unknown): boolean
  isScalar(node: unknown): boolean
  isAlias(node: unknown): boolean
}

/** Turns an offset into a line and a column, both from 1. */
export interface YamlLines {
  lineStarts: number[]
  addNewLine(offset: number): number
  linePos(offset: number): { readonly line: number; readonly col: number }
}

export interface YamlOptions {
  readonly version: '1.2'
  readonly merge: false
  readonly uniqueKeys: false
  readonly prettyErrors: false
  readonly resolveKnownTags: false
  readonly lineCounter: YamlLines
}

export interface YamlProblem {
  readonly code: string
  readonly message: string
  readonly pos: readonly [start: number, end: number]
}

export interface YamlDocument {
  readonly errors: readonly YamlProblem[]
  readonly warnings: readonly YamlProblem[]
  readonly contents: unknown
  readonly directives?:
    | { readonly yaml: { readonly explicit?: boolean | undefined; readonly version: string } }
    | undefined
  toJS(options: { readonly maxAliasCount: number }): unknown
}

/** A node of the document: a scalar has `value`, a collection `items`, an alias `source`. */
export interface YamlNode {
  readonly range?: readonly [start: number, valueEnd: number, nodeEnd: number] | null
  readonly anchor?: string
  readonly source?: string
  readonly value?: unknown
  readonly items?: readonly unknown[]
}

/** A member of a map. */
export interface YamlPair {
  readonly key?: unknown
  readonly value?: unknown
}
