import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { describe, it } from 'node:test'

const root = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const filesBelow = (folder: string): string[] =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
        .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    : []

const sources = ['core', 'plugins', 'presets', 'examples', 'bench'].flatMap(filesBelow)
const tests = filesBelow('test')

/** A file without its comments. */
const code = (file: string): string => read(file).replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')

interface Import {
  readonly specifier: string
  readonly typeOnly: boolean
}

/** Module specifiers of a file, and whether only types are taken. */
const importsOf = (file: string): Import[] =>
  [
    ...read(file).matchAll(
      /^(?:import|export)\s+(type\s)?[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm,
    ),
  ].map((match) => ({
    specifier: match[2] ?? match[3] ?? match[4] ?? '',
    typeOnly: match[1] !== undefined,
  }))

const contributions = [
  'detectors',
  'api-styles',
  'export-formats',
  'storage',
  'mcp-checks',
  'mcp-transports',
  'upstream-clients',
]
const isPackage = (specifier: string): boolean =>
  !specifier.startsWith('.') && !specifier.startsWith('node:') && !specifier.startsWith('guard-gateway')

/** The room of a plugin file: the file itself for contributions of one file, else its folder. */
const roomOf = (file: string): string => {
  const [, feature = '', thing = ''] = file.split('/')
  return contributions.includes(feature) ? `${feature}/${thing.replace(/\.ts$/, '')}` : feature
}

const leaves = (file: string, specifier: string): boolean => {
  const target = join(file, '..', specifier).split(sep).join('/')
  return target.split('/')[0] !== file.split('/')[0]
}

/** The client library loads where no gateway runs, so it takes the parts of core alone that import nothing; the Playground opens sessions of the MCP proxy. */
const publicNamesFor = (file: string): readonly string[] => {
  if (file.startsWith('plugins/replay/sdk/')) return ['guard-gateway/redact', 'guard-gateway/text']
  return file.startsWith('plugins/playground/')
    ? ['guard-gateway/core', 'guard-gateway/plugins/mcp']
    : ['guard-gateway/core']
}

/** What a file may import, by the folder it is in. */
const allowed = {
  core: (file: string, { specifier, typeOnly }: Import): boolean =>
    specifier.startsWith('node:') ||
    specifier === 'tapable' ||
    (typeOnly && ['fastify', 'typebox'].includes(specifier)) ||
    (specifier.startsWith('.') && !leaves(file, specifier)),
  plugins: (file: string, { specifier }: Import): boolean => {
    if (specifier.startsWith('node:') || isPackage(specifier)) return true
    if (specifier.startsWith('guard-gateway')) return publicNamesFor(file).includes(specifier)
    const target = join(file, '..', specifier).split(sep).join('/')
    const shared = target.startsWith('plugins/storage/kysely/') && file.startsWith('plugins/storage/')
    return shared || roomOf(target) === roomOf(file)
  },
  presets: (file: string, { specifier }: Import): boolean =>
    specifier.startsWith('node:') ||
    ['yaml', 'ajv', 'typebox', 're2js'].some((name) => specifier === name || specifier.startsWith(`${name}/`)) ||
    (specifier.startsWith('.')
      ? !leaves(file, specifier)
      : /^guard-gateway\/(core|plugins\/|presets\/)/.test(specifier)),
  examples: (_file: string, { specifier }: Import): boolean => !specifier.startsWith('../'),
}

describe('import rules', () => {
  for (const [folder, allows] of Object.entries(allowed)) {
    for (const file of sources.filter((name) => name.startsWith(`${folder}/`))) {
      it(`${file} imports only what ${folder} may`, () => {
        for (const one of importsOf(file)) assert.ok(allows(file, one), `${file} imports ${one.specifier}`)
      })
    }
  }
  it('takes the types alone of node:http', () => {
    // an import loads its client of WebSockets besides, which `process.getBuiltinModule` does not
    for (const file of sources.filter((name) => /^(?:core|plugins|presets)\//.test(name)))
      for (const { specifier, typeOnly } of importsOf(file))
        assert.ok(typeOnly || !['node:http', 'node:https'].includes(specifier), `${file} loads ${specifier}`)
  })
  it('has no circle', () => {
    const graph = new Map(
      sources.map((file) => [
        file,
        importsOf(file)
          .filter(({ specifier, typeOnly }) => specifier.startsWith('.') && !typeOnly)
          .map(({ specifier }) => join(file, '..', specifier).split(sep).join('/')),
      ]),
    )
    const done = new Set<string>()
    const visit = (file: string, path: readonly string[]): void => {
      assert.ok(!path.includes(file), `circle: ${[...path, file].join(' -> ')}`)
      if (done.has(file)) return
      for (const next of graph.get(file) ?? []) visit(next, [...path, file])
      done.add(file)
    }
    for (const file of sources) visit(file, [])
  })
})

describe('rooms', () => {
  const things = (folder: string): string[] =>
    existsSync(join(root, folder))
      ? [...new Set(readdirSync(join(root, folder)).map((name) => name.replace(/\.ts$/, '')))].filter(
          (name) => name !== 'README.md',
        )
      : []
  for (const [folder, helper] of [
    ['detectors', 'detector'],
    ['api-styles', 'apiStyle'],
    ['export-formats', 'exportFormat'],
    ['storage', 'storage'],
    ['upstream-clients', 'upstreamClient'],
    ['mcp-checks', 'mcpCheck'],
    ['mcp-transports', 'mcpTransport'],
  ] as const) {
    for (const name of things(`plugins/${folder}`).filter((thing) => thing !== 'kysely')) {
      it(`plugins/${folder}/${name} registers the id of its name, has a test and a line in the catalogue`, () => {
        const file = existsSync(join(root, `plugins/${folder}/${name}.ts`))
          ? `plugins/${folder}/${name}.ts`
          : `plugins/${folder}/${name}/index.ts`
        const source = read(file)
        assert.match(source, new RegExp(`${helper}(<[^(]*>)?\\(`))
        assert.ok(
          source.includes(`id: '${folder === 'storage' ? name : name.replaceAll('-', '_')}'`),
          `${file} has another id`,
        )
        assert.ok(tests.includes(`test/plugins/${folder}/${name}.test.ts`), `no test/plugins/${folder}/${name}.test.ts`)
        assert.ok(
          read('plugins/README.md').includes(`\`${folder}/${name}\``),
          `plugins/README.md does not name ${folder}/${name}`,
        )
      })
    }
  }
  for (const name of things('plugins').filter((thing) => !contributions.includes(thing) && thing !== 'README.md')) {
    it(`plugins/${name} has an index, tests and a line in the catalogue`, () => {
      assert.ok(existsSync(join(root, `plugins/${name}/index.ts`)))
      assert.ok(tests.some((file) => file.startsWith(`test/plugins/${name}/`)))
      assert.ok(read('plugins/README.md').includes(`\`${name}\``), `plugins/README.md does not name ${name}`)
    })
  }
  it('have every suite of promises in the public kit', () => {
    const suites = readdirSync(join(root, 'test/conformance')).filter((name) => name.endsWith('.ts'))
    for (const name of suites) assert.ok(read('test/kit.ts').includes(`'./conformance/${name}'`), name)
  })
  it('hold small files with names that say what is in them', () => {
    for (const file of [...sources, ...tests]) {
      const lines = read(file).split('\n').length - 1
      assert.ok(lines <= 250, `${file} has ${lines} lines`)
      assert.doesNotMatch(file, /(^|\/)(utils?|helpers?|common|misc|manager)(\.|\/|$)/)
    }
  })
  it('are folders that can be taken in at a glance', () => {
    for (const [folder, files] of Map.groupBy(sources, (file) => dirname(file)))
      assert.ok(files.length <= 36, `${folder} holds ${files.length} files`)
  })
  it('switch no type off and leave no note to come back to', () => {
    const self = 'test/architecture.test.ts'
    for (const file of [...sources, ...tests].filter((name) => name !== self)) {
      assert.doesNotMatch(code(file), /\bas any\b|: any\b|<any>|\b(?:it|test|describe)\.(?:skip|only|todo)\b/, file)
      assert.doesNotMatch(read(file), /@ts-ignore|@ts-nocheck|biome-ignore|\bTODO\b|\bFIXME\b/, file)
    }
  })
})

describe('the map of core', () => {
  it('names every file and folder', () => {
    const map = read('core/README.md')
    for (const entry of readdirSync(join(root, 'core'), { withFileTypes: true })) {
      const name = entry.isDirectory() ? `${entry.name}/` : entry.name
      if (name !== 'README.md') assert.ok(map.includes(`\`${name}\``), `core/README.md does not name ${name}`)
    }
  })
})

describe('hostile text', () => {
  it('is parsed by one reader per format', () => {
    for (const file of sources.filter((name) => name.startsWith('plugins/') || name.startsWith('presets/'))) {
      assert.doesNotMatch(read(file), /\byaml\.parse\(|\bparseDocument\(/, `${file} parses YAML itself`)
    }
  })
})

describe('the error catalogue', () => {
  const codes = [...read('core/errors/catalogue.ts').matchAll(/^ {4}([A-Z][A-Z_]+): \[/gm)].map(
    (match) => match[1] ?? '',
  )
  const tested = tests
    .filter((name) => name !== 'test/architecture.test.ts')
    .map(read)
    .join('\n')
  const raised = sources
    .filter((name) => name !== 'core/errors/catalogue.ts')
    .map(read)
    .join('\n')
  it('is not empty', () => assert.ok(codes.length > 20))
  for (const code of codes) {
    it(`${code} is raised somewhere and seen by a test`, () => {
      assert.ok(raised.includes(`'${code}'`), `nothing raises ${code}`)
      assert.ok(tested.includes(code), `no test names ${code}`)
    })
  }
})
