import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { code, contributions, read, root, sources, tests } from './sources.ts'

/** Folders that register nothing of the kind of their neighbours. */
const NOT_THINGS: ReadonlySet<string> = new Set(['kysely', 'copy'])

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
    ['import-formats', 'importFormat'],
    ['storage', 'storage'],
    ['upstream-clients', 'upstreamClient'],
    ['upstream-sockets', 'upstreamSocket'],
    ['mcp-checks', 'mcpCheck'],
    ['mcp-result-checks', 'mcpResultCheck'],
    ['mcp-transports', 'mcpTransport'],
    ['notifiers', 'notifier'],
  ] as const) {
    for (const name of things(`plugins/${folder}`).filter((thing) => !NOT_THINGS.has(thing))) {
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
        const own = ['test', 'system.test'].map((ending) => `test/plugins/${folder}/${name}.${ending}.ts`)
        assert.ok(
          tests.some((test) => own.includes(test)),
          `no ${own[0]}`,
        )
        assert.ok(
          read('plugins/README.md').includes(`\`${folder}/${name}\``),
          `plugins/README.md does not name ${folder}/${name}`,
        )
      })
    }
  }
  for (const name of things('plugins').filter(
    (thing) => !contributions.includes(thing) && !thing.endsWith('.md') && thing !== 'lib',
  )) {
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
    const styles = readdirSync(join(root, 'plugins/ui/assets')).filter((name) => name.endsWith('.css'))
    for (const file of [...sources, ...tests, ...styles.map((name) => `plugins/ui/assets/${name}`)]) {
      const lines = read(file).split('\n').length - 1
      assert.ok(lines <= 400, `${file} has ${lines} lines`)
      assert.doesNotMatch(file, /(^|\/)(utils?|helpers?|common|misc|manager)(\.|\/|$)/)
    }
  })
  it('are folders that can be taken in at a glance', () => {
    for (const [folder, files] of Map.groupBy(sources, (file) => dirname(file)))
      assert.ok(files.length <= 43, `${folder} holds ${files.length} files`)
  })
  it('switch no type off and leave no note to come back to', () => {
    const self = 'test/architecture/rooms.test.ts'
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

describe('the changes since the last release', () => {
  it('are told a file each, in one line', () => {
    for (const name of readdirSync(join(root, '.changes')).filter((file) => file !== 'README.md'))
      assert.match(read(`.changes/${name}`), /^(?:Added|Changed|Fixed): [^\n]+\.\n$/, name)
  })
})

describe('hostile text', () => {
  it('is parsed by one reader per format', () => {
    for (const file of sources.filter((name) => /^(?:plugins\/(?!lib\/yaml)|presets\/)/.test(name))) {
      assert.doesNotMatch(read(file), /\byaml\.parse\(|\bparseDocument\(/, `${file} parses YAML itself`)
    }
  })
})
