import { GuardError } from './errors.ts'
import { structureFault, tooDeepToken, type YamlFault } from './yaml/check.ts'
import type { YamlDocument, YamlLines, YamlModule, YamlNode, YamlPair } from './yaml/module.ts'

export type { YamlModule } from './yaml/module.ts'

/** The default for `max_bytes`: 256 KiB. */
export const MAX_YAML_BYTES = 262_144
const MAX_DEPTH = 64
const MAX_ALIASES = 20

/** Where something stands in a text, both from 1. */
export interface YamlPlace {
  readonly line: number
  readonly column: number
}

export interface Yaml {
  readonly value: unknown
  /** Where the member or element at `path` stands (its key, if it has one); what is not there gives the nearest part around it. */
  readonly locate: (path: readonly (string | number)[]) => YamlPlace
}

/**
 * Reads one YAML 1.2 document from outside: bounded size, depth and aliases; plain, unique keys; no tags of types beyond JSON's.
 * Throws GuardError INVALID_YAML with line and column. Slow on large text: over 64 KiB call it in a worker while serving.
 */
export const readYaml = (
  yaml: YamlModule,
  text: string,
  { max_bytes = MAX_YAML_BYTES }: { readonly max_bytes?: number } = {},
): Yaml => {
  const bytes = Buffer.byteLength(text)
  if (bytes > max_bytes) throw new GuardError('INVALID_YAML', `The text has ${bytes} bytes, ${max_bytes} are allowed.`)
  const lines = new yaml.LineCounter()
  const refuse = ({ message, at }: YamlFault, cause?: unknown): never => {
    const { line, column } = placeOf(lines, at)
    throw new GuardError('INVALID_YAML', `Line ${line}, column ${column}: ${message}`, { line, column, cause })
  }
  // Deep nesting can end the process inside the package, so it is counted on tokens before anything is composed.
  const deep = tooDeepToken(new yaml.Parser().parse(text), MAX_DEPTH)
  if (deep !== undefined) {
    const { line, column } = countTo(text, deep)
    throw new GuardError('INVALID_YAML', `Line ${line}, column ${column}: nested deeper than ${MAX_DEPTH} levels.`, {
      line,
      column,
    })
  }
  const document = compose(yaml, text, lines)
  const fault = documentFault(document) ?? structureFault(yaml, document.contents)
  if (fault !== undefined) refuse(fault)
  try {
    return {
      value: document.toJS({ maxAliasCount: MAX_ALIASES }),
      locate: (path) => placeOf(lines, offsetOf(document.contents, path)),
    }
  } catch (error) {
    return refuse(
      { message: `Aliases are used more than ${MAX_ALIASES} times over, or refer to nothing.`, at: 0 },
      error,
    )
  }
}

const compose = (yaml: YamlModule, text: string, lines: YamlLines): YamlDocument =>
  yaml.parseDocument(text, {
    version: '1.2',
    merge: false,
    uniqueKeys: false,
    prettyErrors: false,
    resolveKnownTags: false,
    lineCounter: lines,
  })

const placeOf = (lines: YamlLines, at: number): YamlPlace => {
  const { line, col } = lines.linePos(at)
  return { line: Math.max(1, line), column: Math.max(1, col) }
}

const countTo = (text: string, at: number): YamlPlace => {
  const before = text.slice(0, at).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

/** Errors and warnings alike refuse a document, and so does a directive that asks for other rules. */
const documentFault = ({ errors, warnings, directives }: YamlDocument): YamlFault | undefined => {
  const [problem] = [...errors, ...warnings]
  if (problem !== undefined) return { message: problem.message, at: problem.pos[0] }
  return directives?.yaml.explicit === true && directives.yaml.version !== '1.2'
    ? { message: `The document asks for YAML ${directives.yaml.version}; only 1.2 is read.`, at: 0 }
    : undefined
}

/** The offset of the deepest part of `path` that is there. */
const offsetOf = (contents: unknown, path: readonly (string | number)[]): number => {
  let node = contents as YamlNode | null | undefined
  let at = node?.range?.[0] ?? 0
  for (const segment of path) {
    const found = stepInto(node, segment)
    if (found === undefined) return at
    at = found.at
    node = found.node
  }
  return at
}

const stepInto = (
  node: YamlNode | null | undefined,
  segment: string | number,
): { at: number; node: YamlNode | undefined } | undefined => {
  if (typeof segment === 'number') {
    const item = node?.items?.[segment] as YamlNode | undefined
    return item?.range ? { at: item.range[0], node: item } : undefined
  }
  const pair = node?.items?.find((item) => ((item as YamlPair).key as YamlNode | undefined)?.value === segment) as
    | YamlPair
    | undefined
  const key = pair?.key as YamlNode | undefined
  return key?.range ? { at: key.range[0], node: pair?.value as YamlNode | undefined } : undefined
}
