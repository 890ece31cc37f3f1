import { Ajv } from 'ajv'
import standalone from 'ajv/dist/standalone/index.js'
import { type Plugin, type RolldownLog, rolldown } from 'rolldown'
import { minifySync } from 'rolldown/utils'
import { configSchema } from '../presets/default/config/schema.ts'
import { VALIDATOR_OPTIONS } from '../presets/default/config/validator.ts'
import { chunkGroups } from './chunks.ts'
import { addressedPackages, entries } from './entries.ts'
import { isExternal } from './externals.ts'
import { moduleLocations } from './module-locations.ts'
import { oneCopy } from './one-copy.ts'
import { packageFiles, webAssembly, writePackageFiles } from './package-files.ts'
import { oldestNode, root } from './project.ts'

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

/**
 * Escapes the characters beyond ASCII in strings, templates, regular expressions and comments of chunks. V8 keeps the source of what it
 * runs, with two bytes a character if one of them needs two.
 */
const ascii: Plugin = {
  name: 'ascii',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) if (file.type === 'chunk') file.code = escaped(file.code)
  },
}

const escaped = (code: string): string =>
  code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Puts the compiled check of configurations where the sources compile it: that takes a fifth of a start. */
const configValidator: Plugin = {
  name: 'guard-config-validator',
  load: {
    filter: { id: /presets\/default\/config\/validator\.ts$/ },
    handler: () => {
      const ajv = new Ajv({ ...VALIDATOR_OPTIONS, code: { source: true, esm: true } })
      const code = standalone.default(ajv, ajv.compile(configSchema))
      return { code: `${code}\nexport const configValidator = async () => validate`, moduleType: 'js' }
    },
  },
}

/** Takes white space and comments out of code that nobody reads: of packages, and what Ajv writes. Names of packages stay, so that traces of stacks can be read. Licences are in the notices. */
const unreadCode: Plugin = {
  name: 'guard-unread-code',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type !== 'chunk' || !/^vendor\/|^chunks\/validator-/.test(file.fileName)) continue
      const isGenerated = file.fileName.startsWith('chunks/')
      const options = {
        module: true,
        compress: false,
        mangle: isGenerated,
        codegen: { removeWhitespace: true, legalComments: 'none' as const },
      }
      const { code, errors } = minifySync(file.fileName, file.code, options)
      if (errors.length > 0) throw new Error(`${file.fileName}: ${errors.join(' ')}`)
      file.code = code
    }
  },
}
