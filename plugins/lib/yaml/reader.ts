import { GuardError } from 'guard-gateway/core'
import { structureFault, tooDeepToken, type YamlFault } from './check.ts'
import { locationIn, locationsOf, type YamlLocation, type YamlLocations } from './locations.ts'
import type { YamlDocument, YamlLines, YamlModule } from './module.ts'

export type { YamlLocation } from './locations.ts'
export type { YamlModule } from './module.ts'

/** The default for `max_bytes`: 256 KiB. */
const MAX_YAML_BYTES = 262_144
const MAX_DEPTH = 64
const MAX_ALIASES = 20

export interface YamlLimits {
  readonly max_bytes?: number
}

export interface Yaml {
  readonly value: unknown
  /** Where the member or element at `path` is (its key, if it has one); what is not there gives the nearest part around it. */
  readonly locate: (path: readonly (string | number)[]) => YamlLocation
}

/**
 * Reads one YAML 1.2 document from outside: bounded size, depth and aliases; plain, unique keys; no tags of types beyond JSON's.
 * Throws GuardError INVALID_YAML, line and column in its place. Slow on large text: `readLongYaml` is for what comes in while serving.
 */
export const readYaml = (yaml: YamlModule, text: string, options: YamlLimits = {}): Yaml => {
  const { value, places } = readWithLocations(yaml, text, options)
  let known: YamlLocations | undefined
  return {
    value,
    locate(path) {
      known ??= places()
      return locationIn(known, path)
    },
  }
}

/** As `readYaml`, and where everything is in a form that can be sent to another thread. */
export const readWithLocations = (
  yaml: YamlModule,
  text: string,
  { max_bytes = MAX_YAML_BYTES }: YamlLimits,
): { readonly value: unknown; readonly places: () => YamlLocations } => {
  const bytes = Buffer.byteLength(text)
  if (bytes > max_bytes) throw new GuardError('INVALID_YAML', `The text has ${bytes} bytes, ${max_bytes} are allowed.`)
  const lines = new yaml.LineCounter()
  const refuse = ({ message, at }: YamlFault, cause?: unknown): never => {
    const { line, column } = placeOf(lines, at)
    throw new GuardError('INVALID_YAML', message, { line, column, cause })
  }
  // Deep nesting can end the process inside the package, so it is counted on tokens before anything is composed.
  const deep = tooDeepToken(new yaml.Parser().parse(text), MAX_DEPTH)
  if (deep !== undefined) {
    throw new GuardError('INVALID_YAML', `Nested deeper than ${MAX_DEPTH} levels.`, countTo(text, deep))
  }
  const document = compose(yaml, text, lines)
  const fault = documentFault(document) ?? structureFault(yaml, document.contents)
  if (fault !== undefined) refuse(fault)
  try {
    return {
      value: document.toJS({ maxAliasCount: MAX_ALIASES }),
      places: () => locationsOf(document.contents, (at) => placeOf(lines, at)),
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

const placeOf = (lines: YamlLines, at: number): YamlLocation => {
  const { line, col } = lines.linePos(at)
  return { line: Math.max(1, line), column: Math.max(1, col) }
}

const countTo = (text: string, at: number): YamlLocation => {
  const before = text.slice(0, at).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

/** Errors and warnings alike refuse a document, and so does a directive that asks for other rules. */
const documentFault = ({ errors, warnings, directives }: YamlDocument): YamlFault | undefined => {
  const [problem] = [...errors, ...warnings]
  if (problem?.code === 'MULTIPLE_DOCS')
    return { message: 'A second document begins here; keep one of them.', at: problem.pos[0] }
  if (problem !== undefined) return { message: problem.message, at: problem.pos[0] }
  return directives?.yaml.explicit === true && directives.yaml.version !== '1.2'
    ? { message: `The document asks for YAML ${directives.yaml.version}; only 1.2 is read.`, at: 0 }
    : undefined
}
