import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(import.meta.dirname, '../..')
export const read = (file: string): string => readFileSync(join(root, file), 'utf8')
export const filesBelow = (folder: string, endings: readonly string[] = ['.ts']): string[] =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
        .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    : []

export const sources = ['core', 'plugins', 'presets', 'examples', 'bench', 'build'].flatMap((folder) =>
  filesBelow(folder),
)
export const tests = filesBelow('test')

/** A file without its comments. */
export const code = (file: string): string => read(file).replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')

export interface Import {
  readonly specifier: string
  readonly typeOnly: boolean
}

/** Module specifiers of a file, and whether only types are taken. */
export const importsOf = (file: string): Import[] =>
  [
    ...read(file).matchAll(
      /^(?:import|export)\s+(type\s)?[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm,
    ),
  ].map((match) => ({
    specifier: match[2] ?? match[3] ?? match[4] ?? '',
    typeOnly: match[1] !== undefined,
  }))

/** The file that a relative specifier of another one names. */
export const targetOf = (file: string, specifier: string): string => join(file, '..', specifier).split(sep).join('/')

/** The file of this repository that a specifier in another one names; undefined for packages and built-in modules. */
export const resolved = (file: string, specifier: string): string | undefined => {
  if (specifier.startsWith('.')) return targetOf(file, specifier)
  if (!/^(?:guard-gateway|#lib)(?:\/|$)/.test(specifier)) return undefined
  return relative(root, fileURLToPath(import.meta.resolve(specifier)))
    .split(sep)
    .join('/')
}

/** The imports of these files that lead to others of them. */
export const importGraph = (
  files: readonly string[],
  counts: (one: Import) => boolean = () => true,
): ReadonlyMap<string, readonly string[]> => {
  const known = new Set(files)
  return new Map(
    files.map((file) => [
      file,
      importsOf(file)
        .filter(counts)
        .map(({ specifier }) => resolved(file, specifier))
        .filter((target): target is string => target !== undefined && known.has(target)),
    ]),
  )
}

/** The circles of a graph, the largest first: sets of files that all reach each other (strongly connected, as Tarjan finds them). */
export const circlesOf = (graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] => {
  const lowest = new Map<string, number>()
  const open: string[] = []
  const closed = new Set<string>()
  const circles: string[][] = []
  const close = (file: string, targets: readonly string[]): void => {
    const circle = open.splice(open.indexOf(file))
    for (const member of circle) closed.add(member)
    if (circle.length > 1 || targets.includes(file)) circles.push(circle)
  }
  const visit = (file: string): number => {
    const own = lowest.size
    lowest.set(file, own)
    open.push(file)
    const targets = graph.get(file) ?? []
    const reached = targets.filter((next) => !closed.has(next)).map((next) => lowest.get(next) ?? visit(next))
    const low = Math.min(own, ...reached)
    lowest.set(file, low)
    if (low === own) close(file, targets)
    return low
  }
  for (const file of graph.keys()) if (!closed.has(file)) visit(file)
  return circles.toSorted((one, other) => other.length - one.length)
}

/** Folders of plugins whose every entry is one contribution. */
export const contributions = [
  'detectors',
  'api-styles',
  'export-formats',
  'import-formats',
  'storage',
  'mcp-checks',
  'mcp-result-checks',
  'mcp-transports',
  'upstream-clients',
  'upstream-sockets',
  'notifiers',
]
