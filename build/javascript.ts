import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type OutputChunk, type RolldownOutput, rolldown } from 'rolldown'
import { ascii } from './ascii.ts'
import { chunkGroups } from './chunks.ts'
import { configValidator } from './config-validator.ts'
import { addressedPackages, entries } from './entries.ts'
import { isExternal } from './externals.ts'
import { moduleLocations } from './module-locations.ts'
import { noticesOf } from './notices.ts'
import { root } from './project.ts'

/** Bundles the modules of the package, so that a start reads few files. All entries share their chunks, so that each module exists once. */
export const buildJavaScript = async (folder: string): Promise<void> => {
  const bundle = await rolldown({
    cwd: root,
    input: entries(),
    platform: 'node',
    external: isExternal,
    resolve: { conditionNames: ['guard-source', 'node', 'import', 'module', 'default'], alias: addressedPackages },
    plugins: [configValidator, moduleLocations, ascii],
    preserveEntrySignatures: 'allow-extension',
    onLog: (level, log, handle) => {
      if (!EXPECTED.has(log.code ?? '')) handle(level === 'warn' ? 'error' : level, log)
    },
  })
  const output = await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: ({ name }) => chunkFile(name),
    comments: { legal: true, annotation: false, jsdoc: false },
    minifyInternalExports: false,
    codeSplitting: { groups: chunkGroups(), includeDependenciesRecursively: false },
  })
  await bundle.close()
  await writeNotices(folder, output)
}

/** Names of chunks of packages that no start loads list all that loads them. */
const chunkFile = (name: string): string => {
  if (name.startsWith('vendor~')) return 'vendor/[hash].js'
  return `${/^(vendor|rolldown-runtime)/.test(name) ? 'vendor' : 'chunks'}/[name]-[hash].js`
}

/** A module that is imported statically and dynamically is loaded with what imports it statically. */
const EXPECTED: ReadonlySet<string> = new Set(['INEFFECTIVE_DYNAMIC_IMPORT', 'CIRCULAR_DEPENDENCY'])

const writeNotices = async (folder: string, { output }: RolldownOutput): Promise<void> => {
  const modules = output
    .filter((file): file is OutputChunk => file.type === 'chunk')
    .flatMap(({ moduleIds }) => moduleIds)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'THIRD-PARTY-NOTICES.txt'), noticesOf(modules))
}
