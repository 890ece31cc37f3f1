import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { manifest, root } from './project.ts'

/** The sources behind public names, relative to the project. */
export const publicSources = (): readonly string[] =>
  Object.values(manifest.exports)
    .flatMap((target) => (target === null || typeof target === 'string' ? [] : [target['guard-source']]))
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .map((file) => posix.normalize(file.replaceAll('\\', '/')))

/** Modules of threads: each is named beside the one that starts it. */
export const threadSources = (): readonly string[] =>
  named(BESIDE, (name, from) => posix.join(posix.dirname(from), name))
/** As in `new URL(`./worker${extname(import.meta.filename)}`, import.meta.url)`. */
const BESIDE = /new URL\(`(\.[\w./-]+)\$\{extname\(import\.meta\.filename\)\}`/g

/** Programs of the bench: it starts or hashes each by its name. */
const programSources = (): readonly string[] => [
  'bench/run.ts',
  'bench/replay/fragments.ts',
  'bench/replay/database.ts',
  ...named(/'(bench\/[\w/-]+)'/g, (name) => name).filter((source) => existsSync(join(root, source))),
]

const named = (pattern: RegExp, sourceOf: (name: string, from: string) => string): readonly string[] =>
  globSync('{core,plugins,presets,bench}/**/*.ts', { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .flatMap((from) =>
      [...readFileSync(join(root, from), 'utf8').matchAll(pattern)].map(
        ([, name = '']) => `${sourceOf(name, from)}.ts`,
      ),
    )

/** Packages that threads import by an address: their modules with named exports, which a CommonJS module in a chunk lacks. */
export const addressedPackages: Readonly<Record<string, string>> = {
  yaml: join(root, 'node_modules/yaml/browser/index.js'),
}

/** Every module that has a file of its own in the package, by its name there. */
export const entries = (): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    [
      'presets/default/bin.js',
      'presets/default/start.js',
      ...publicSources(),
      ...threadSources(),
      ...programSources(),
    ].map((source) => [source.replace(/\.[jt]s$/, ''), join(root, source)]),
  ),
  ...Object.fromEntries(Object.entries(addressedPackages).map(([name, file]) => [`vendor/${name}`, file])),
})
