import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

export const root = join(import.meta.dirname, '../..')
export const read = (file: string): string => readFileSync(join(root, file), 'utf8')
export const filesBelow = (folder: string): string[] =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
        .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    : []

export const sources = ['core', 'plugins', 'presets', 'examples', 'bench', 'build'].flatMap(filesBelow)
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
