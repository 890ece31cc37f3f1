import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const modules = join(root, 'node_modules')

interface Manifest {
  /** Null: such a name is nobody else's affair. */
  readonly exports: Readonly<Record<string, string | { readonly 'guard-source': string } | null>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly scripts: Readonly<Record<string, string>>
  readonly version: string
}
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest

/** Every public name, those with a star once for each file behind them. */
const publicNames = (): string[] =>
  Object.entries(manifest.exports).flatMap(([name, target]) => {
    if (target === null) return []
    const source = typeof target === 'string' ? target : target['guard-source']
    if (!name.includes('*')) return [name]
    const [head = '', tail = ''] = source.split('*')
    return globSync(source, { cwd: root })
      .map((file) =>
        file
          .split('\\')
          .join('/')
          .slice(head.length - 2, file.length - tail.length),
      )
      .filter((thing) => !thing.includes('/'))
      .map((thing) => name.replace('*', thing))
  })

const consumer = `
import { Gateway, detector, type Plugin } from 'guard-gateway/core'
import { createGateway, defaultPreset, type Config } from 'guard-gateway'
import { exactRepeat } from 'guard-gateway/plugins/detectors/exact-repeat'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { startService, detectorConforms, evidence } from 'guard-gateway/test'

const mine = detector({ id: 'mine', kind: 'loop', code: 'LOOP_EXACT', version: '1', defaults: { threshold: 1, window_size: 1 }, detect: () => undefined })
export const plugins = (config: Config): readonly Plugin[] => [...defaultPreset(config), mine]
export const small: Gateway = new Gateway().use(memory(), exactRepeat)
export const kit = [startService, detectorConforms, evidence, createGateway]
// @ts-expect-error: a detector says which code it raises
detector({ id: 'broken', kind: 'loop', version: '1', defaults: { threshold: 1, window_size: 1 }, detect: () => undefined })
`

describe('the published package', () => {
  let folder = ''
  let packed: readonly string[] = []
  /** Where somebody has installed it. */
  const project = (): string => join(folder, 'project')
  const installed = (): string => join(project(), 'node_modules/guard-gateway')
  // what is installed for this test alone is not worth keeping compiled
  const env = { PATH: process.env.PATH, NODE_DISABLE_COMPILE_CACHE: '1' }
  const node = (...argv: string[]) => run(process.execPath, argv, { cwd: project(), env })

  /** The examples of the guides, as their readers write them. */
  const examples = globSync('custom-*.ts', { cwd: join(root, 'examples') }).toSorted()
  const copyExamples = async () => {
    for (const name of examples) await cp(join(root, 'examples', name), join(project(), name))
  }

  const script = async (text: string) => {
    const file = join(project(), 'script.mjs')
    await writeFile(file, text)
    return node(file)
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-package-'))
    const source = join(folder, 'source')
    // a copy is built, so that the folder under test stays as it is
    for (const name of [
      'core',
      'plugins',
      'presets',
      'examples',
      'bench',
      'test/kit',
      'test/conformance',
      'test/kit.ts',
    ])
      await cp(join(root, name), join(source, name), { recursive: true })
    for (const name of ['package.json', 'tsconfig.json', 'LICENSE', 'CHANGELOG.md'])
      await cp(join(root, name), join(source, name))
    await symlink(modules, join(source, 'node_modules'))
    // `npm run check` looks for faults in types, here and in CI; what is built does not depend on it, and nobody debugs it
    const fast = ['--noCheck', '--singleThreaded', '--sourceMap', 'false', '--declarationMap', 'false']
    await run(process.execPath, [join(modules, 'typescript/bin/tsc'), ...fast], { cwd: source })
    const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
      cwd: source,
    })
    const [pack] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[]
    assert.ok(pack)
    packed = pack.files.map(({ path }) => path)
    await mkdir(installed(), { recursive: true })
    await run('tar', ['-xzf', join(folder, pack.filename), '-C', installed(), '--strip-components=1'])
    // what it declares and what its test kit asks for, nothing else
    for (const name of [...Object.keys(manifest.dependencies), 'fast-check', '@types/node']) {
      await mkdir(join(project(), 'node_modules', name, '..'), { recursive: true })
      await symlink(join(modules, name), join(project(), 'node_modules', name))
    }
    await writeFile(join(project(), 'package.json'), '{"type":"module"}')
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('holds what it needs and no configuration, database or secret', () => {
    for (const file of [
      'package.json',
      'LICENSE',
      'dist/presets/default/bin.js',
      'presets/policies/default.yml',
      'plugins/ui/assets/app.css',
      'presets/default/help.txt',
      'examples/prices.yml',
    ])
      assert.ok(packed.includes(file), file)
    for (const file of packed) assert.doesNotMatch(file, /node_modules|guard-config|\.db\b|^profiles\/|\.log$/)
  })
  it('is built before it is packed, and installed from the file that the documents name', () => {
    assert.equal(manifest.scripts.prepack, 'npm run -s build')
    for (const file of ['README.md', 'plugins/detectors/README.md'])
      assert.ok(readFileSync(join(root, file), 'utf8').includes(`npm install ./guard-gateway-${manifest.version}.tgz`))
  })
  it('can be imported by every public name, with types beside each', async () => {
    const names = publicNames()
    assert.ok(names.length > 25, names.join(' '))
    const code = names
      .filter((name) => !/policies|assets|\.txt$|package\.json/.test(name))
      .map((name) => `guard-gateway${name.slice(1)}`)
    const text = `for (const name of ${JSON.stringify(code)}) if (Object.keys(await import(name)).length === 0) throw new Error(name)`
    await script(text)
    for (const file of packed.filter((name) => name.startsWith('dist/') && name.endsWith('.js')))
      assert.ok(existsSync(join(installed(), file.replace(/\.js$/, '.d.ts'))), file)
  })
  it('type-checks in a consumer of its own', async () => {
    await writeFile(join(project(), 'consumer.ts'), consumer)
    const options = {
      module: 'nodenext',
      target: 'es2024',
      strict: true,
      noEmit: true,
      types: ['node'],
      skipLibCheck: true,
      lib: ['es2024', 'esnext.disposable'],
    }
    await copyExamples()
    await writeFile(
      join(project(), 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files: ['consumer.ts', ...examples] }),
    )
    await node(join(modules, 'typescript/bin/tsc'), '-p', project())
  })
  it('takes the example of every guide, named in a configuration', async () => {
    await copyExamples()
    const plugins = examples.map((name) => `./${name}`).join(', ')
    await writeFile(
      join(project(), 'guard-config.yml'),
      `gateway_key: guard_0123456789abcdef\nplugins: [${plugins}]\nstorage: { backend: journal }\n`,
      { mode: 0o600 },
    )
    const { stdout } = await script(`
      import { createGateway, loadConfig } from 'guard-gateway'
      const gateway = await createGateway((await loadConfig('guard-config.yml', {})).config)
      await gateway.open()
      await gateway.close()
      console.log(gateway.plugins().slice(-${examples.length}).join(' '))`)
    assert.equal(
      stdout.trim(),
      'api-style/cohere_chat mcp-check/branch waiting detector/same_answer export-format/chrome_trace allowed-models notifier/status_file models storage/journal mcp-transport/tcp upstream-client/token_file',
    )
  })
  it('has a bench that starts its programs where it is installed', async () => {
    const bin = join(installed(), 'dist/presets/default/bin.js')
    const { stdout } = await node(bin, 'bench', 'guard --help', '--smoke', '--suite', 'throughput')
    assert.match(stdout, /guard --help/)
    const { stdout: found } = await script(`
      import { existsSync } from 'node:fs'
      import { programFile } from ${JSON.stringify(join(installed(), 'dist/bench/programs.js'))}
      for (const name of ['load/measure', 'load/provider', 'mcp/upstream']) console.log(existsSync(programFile('bench/' + name)))`)
    assert.equal(found, 'true\n'.repeat(3))
  })
  it('has a command that helps, and a gateway that serves from its built files', async () => {
    const bin = join(installed(), 'dist/presets/default/bin.js')
    assert.match((await node(bin, '--help')).stdout, /gateway run/)
    const text = `
      import { startService } from 'guard-gateway/test'
      const service = await startService({ backend: 'sqlite' })
      const { status, headers } = await service.request('POST', '/v1/responses', { model: 'm-1', input: 'hi' })
      console.log(status, headers.get('x-guard-decision'), (await service.session(headers.get('x-guard-session-id'))).requests)
      await service[Symbol.asyncDispose]()`
    const { stdout, stderr } = await script(text)
    assert.equal(stdout.trim(), '200 allow 1', stderr)
  })
  it('satisfies publint', async () => {
    await run(process.execPath, [join(modules, 'publint/src/cli.js'), installed(), '--strict', '--pack', 'false'])
  })
})
