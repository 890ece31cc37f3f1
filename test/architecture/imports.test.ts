import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { libraries } from './libraries.ts'
import { circlesOf, code, contributions, type Import, importGraph, importsOf, sources, targetOf } from './sources.ts'

const isPackage = (specifier: string): boolean =>
  !specifier.startsWith('.') &&
  !specifier.startsWith('node:') &&
  !specifier.startsWith('guard-gateway') &&
  !specifier.startsWith('#')

/** What plugins share; `guard-gateway/lib/*` gives authors a part of it. */
const LIB = '#lib/'
/** What is public of the libraries: a file a library, which hands out names of its door alone. */
const PUBLIC = 'plugins/lib/public/'

/** The library that a file of `plugins/lib` belongs to: its door `x.ts`, or the folder `x/`. */
const libraryOf = (file: string): string => file.split('/')[2]?.replace(/\.ts$/, '') ?? ''

/** The room of a plugin file: the file itself for contributions of one file, else its folder. */
const roomOf = (file: string): string => {
  const [, feature = '', thing = ''] = file.split('/')
  return contributions.includes(feature) ? `${feature}/${thing.replace(/\.ts$/, '')}` : feature
}

const leaves = (file: string, specifier: string): boolean =>
  targetOf(file, specifier).split('/')[0] !== file.split('/')[0]

/** The client library loads where no gateway runs, so it takes the parts alone that import nothing; the Playground opens sessions of the MCP proxy. */
const isPublicFor = (file: string, specifier: string): boolean => {
  if (file.startsWith('plugins/replay/sdk/')) return ['guard-gateway/redact', 'guard-gateway/text'].includes(specifier)
  if (specifier === 'guard-gateway/core' || /^(?:#lib|guard-gateway\/lib)\//.test(specifier)) return true
  return file.startsWith('plugins/playground/') && specifier === 'guard-gateway/plugins/mcp'
}

const libraryMay = (file: string, specifier: string): boolean => {
  if (file.startsWith(PUBLIC)) return targetOf(file, specifier) === file.replace('/public/', '/')
  if (specifier.startsWith('.')) return libraryOf(targetOf(file, specifier)) === libraryOf(file)
  if (specifier === 'guard-gateway/core') return true
  const floor = libraries.indexOf(specifier.slice(LIB.length))
  return specifier.startsWith(LIB) && floor !== -1 && floor < libraries.indexOf(libraryOf(file))
}

const pluginMay = (file: string, specifier: string): boolean => {
  if (specifier.startsWith('guard-gateway') || specifier.startsWith(LIB)) return isPublicFor(file, specifier)
  const target = targetOf(file, specifier)
  const shared = target.startsWith('plugins/storage/kysely/') && file.startsWith('plugins/storage/')
  return shared || roomOf(target) === roomOf(file)
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
    return file.startsWith('plugins/lib/') ? libraryMay(file, specifier) : pluginMay(file, specifier)
  },
  presets: (file: string, { specifier }: Import): boolean =>
    specifier.startsWith('node:') ||
    ['yaml', 'ajv', 'typebox', 're2js'].some((name) => specifier === name || specifier.startsWith(`${name}/`)) ||
    (specifier.startsWith('.')
      ? !leaves(file, specifier)
      : /^(?:#lib\/|guard-gateway\/(?:core|plugins\/|presets\/))/.test(specifier)),
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
})

describe('libraries', () => {
  const files = sources.filter((name) => name.startsWith('plugins/lib/') && !name.startsWith(PUBLIC))
  it('each have a floor', () => {
    assert.deepEqual([...new Set(files.map(libraryOf))].toSorted(), libraries.toSorted())
  })
  it('know no gateway: they get what they need as an argument', () => {
    for (const file of files) assert.doesNotMatch(code(file), /\bgateway\./, file)
  })
})

describe('circles', () => {
  const loaded = importGraph(sources, ({ specifier, typeOnly }) => specifier.startsWith('.') && !typeOnly)
  it('are found', () => {
    const edges = { a: ['b'], b: ['c', 'd'], c: ['b', 'e'], d: ['d'], e: [], f: ['a', 'g'], g: ['h'], h: ['f', 'g'] }
    const circles = circlesOf(new Map(Object.entries(edges)))
    assert.deepEqual(
      circles.map((circle) => circle.toSorted().join('')),
      ['fgh', 'd', 'bc'].toSorted((one, other) => other.length - one.length),
    )
  })
  it('there are none', () => assert.deepEqual(circlesOf(loaded), []))
  it('there are none in core among types either, but for a plugin and the gateway it is applied to', () => {
    const edges = new Map(importGraph(sources.filter((file) => file.startsWith('core/'))))
    edges.set('core/plugin.ts', edges.get('core/plugin.ts')?.filter((file) => file !== 'core/gateway.ts') ?? [])
    assert.deepEqual(circlesOf(edges), [])
  })
})
