import { type RolldownLog, rolldown } from 'rolldown'
import { ascii } from './ascii.ts'
import { chunkGroups } from './chunks.ts'
import { configValidator } from './config-validator.ts'
import { addressedPackages, entries } from './entries.ts'
import { isExternal } from './externals.ts'
import { moduleLocations } from './module-locations.ts'
import { oneCopy } from './one-copy.ts'
import { packageFiles, webAssembly, writePackageFiles } from './package-files.ts'
import { oldestNode, root } from './project.ts'
import { unreadCode } from './unread-code.ts'

/** Bundles the modules of the package, so that a start reads few files; resolves to the files that are in them. All entries share their chunks, so that each module exists once. */
export const buildJavaScript = async (folder: string): Promise<readonly string[]> => {
  const bundle = await rolldown({
    cwd: root,
    input: entries(),
    platform: 'node',
    external: isExternal,
    transform: { target: oldestNode },
    // node and default, and import or require by the kind of each request, come by themselves
    resolve: { conditionNames: ['guard-source', 'module-sync'], alias: addressedPackages },
    plugins: [oneCopy(root, addressedPackages), configValidator, moduleLocations, webAssembly, unreadCode, ascii],
    preserveEntrySignatures: 'allow-extension',
    onLog: (level, log, handle) => {
      if (!isExpected(log)) handle(level === 'warn' ? 'error' : level, log)
    },
  })
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: ({ name }) => chunkFile(name),
    comments: { legal: true, annotation: false, jsdoc: false },
    minifyInternalExports: false,
    codeSplitting: { groups: chunkGroups(), includeDependenciesRecursively: false },
  })
  await bundle.close()
  await writePackageFiles(folder)
  return [...output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : [])), ...packageFiles]
}

/** Names of chunks of packages that no start loads list all that loads them. */
const chunkFile = (name: string): string => {
  if (name.startsWith('vendor~')) return 'vendor/[hash].js'
  return `${/^(vendor|rolldown-runtime)/.test(name) ? 'vendor' : 'chunks'}/[name]-[hash].js`
}

/** Emscripten's glue has `eval` for grammars with JavaScript of their own, which Bash's is not. */
const isExpected = ({ code = '', id = '' }: RolldownLog): boolean =>
  EXPECTED.has(code) || (code === 'EVAL' && id.endsWith('/web-tree-sitter.js'))

/** A module that is imported statically and dynamically is loaded with what imports it statically. */
const EXPECTED: ReadonlySet<string> = new Set(['INEFFECTIVE_DYNAMIC_IMPORT', 'CIRCULAR_DEPENDENCY', 'PLUGIN_TIMINGS'])
