import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { cp, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { loadConfig } from 'guard-gateway'
import { transformSync } from 'rolldown/utils'
import { oldestNode } from '../build/project.ts'
import { compileConsumers, settings } from './package-consumers.ts'
import { keepsCompiled, modulesOfStart } from './package-start.ts'
import { manifest, modules, type PackedPackage, packPackage, root } from './packed-package.ts'

const run = promisify(execFile)

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

interface Analysis {
  readonly problems: readonly {
    readonly kind: string
    readonly entrypoint?: string
    readonly resolutionKind?: string
  }[]
}

describe('the published package', () => {
  let packed: PackedPackage
  /** The examples of the guides, as their readers write them. */
  const examples = globSync('custom-*.ts', { cwd: join(root, 'examples') }).toSorted()
  const copyExamples = async () => {
    for (const name of examples) await cp(join(root, 'examples', name), join(packed.project, name))
  }

  before(async () => {
    packed = await packPackage()
  })
  after(() => packed.remove())

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
      assert.ok(packed.files.includes(file), file)
    for (const file of packed.files) assert.doesNotMatch(file, /node_modules|guard-config|\.db\b|^profiles\/|\.log$/)
  })
  it('is small, and holds no source that it does not run', () => {
    const scripts = packed.files.filter((file) => file.endsWith('.js'))
    assert.ok(scripts.length <= 520, `${scripts.length} files of JavaScript`)
    assert.ok(packed.files.length <= 1_050, `${packed.files.length} files`)
    assert.ok(packed.size <= 3_050_000, `${packed.size} bytes`)
    for (const file of packed.files) assert.ok(file.startsWith('examples/') || !/(?<!\.d)\.ts$|\.map$/.test(file), file)
  })
  it('names the license of each package in its chunks', () => {
    const text = readFileSync(join(packed.installed, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8')
    for (const name of ['fastify', 'ajv', 'typebox', 'kysely', 'yaml'])
      assert.ok(new RegExp(`^${name} [\\d.]+ \\([\\w-]+\\)\n(?:.*\n){0,6}.*copyright`, 'im').test(text), name)
  })
  it('has each module once, whatever it is imported by', async () => {
    const { stdout } = await packed.script(`
      import { GuardError } from 'guard-gateway/core'
      import { commandKind } from 'guard-gateway/lib/command'
      import { createGateway } from 'guard-gateway'
      import * as preset from 'guard-gateway/presets/default'
      import { writeFileSync } from 'node:fs'
      writeFileSync('one.yml', 'gateway_key: guard_0123456789abcdef', { mode: 0o600 })
      const fault = await preset.loadConfig('no-such-file.yml', {}).catch((error) => error)
      const gateway = await createGateway((await preset.loadConfig('one.yml', {})).config)
      console.log(preset.createGateway === createGateway, fault instanceof GuardError, [...gateway.registry(commandKind)].length > 0)`)
    assert.equal(stdout.trim(), 'true true true')
  })
  it('refuses a configuration with the words of the sources', async () => {
    const file = join(packed.project, 'wrong.yml')
    const text = 'gateway_key: short\ndefault_mode: all\nserver: { port: high }\nupstreams: [{ id: 7 }]\nprots: 1\n'
    await writeFile(file, text, { mode: 0o600 })
    const told = await loadConfig(file, {}).catch(({ message }: Error) => message)
    const { stdout } = await packed.script(`
      import { loadConfig } from 'guard-gateway'
      await loadConfig(${JSON.stringify(file)}, {}).catch(({ message }) => console.log(message))`)
    assert.equal(stdout, `${told}\n`)
    assert.match(stdout, /prots/)
  })
  it('loads few files until it listens, and strips no types', async () => {
    const loaded = await modulesOfStart(packed)
    assert.ok(loaded.length > 10 && loaded.length <= 120, `${loaded.length} modules`)
    for (const { url, format } of loaded) assert.ok(!format.includes('typescript') && !url.endsWith('.ts'), url)
  })
  it('keeps what was compiled for its next start, even where it is killed', async () => {
    assert.ok(await keepsCompiled(packed, 60_000))
  })
  it('is built before it is packed, and installed from the file that the documents name', () => {
    assert.equal(manifest.scripts.prepack, 'npm run -s build && node build/manifest.ts publish')
    assert.equal(manifest.scripts.postpack, 'node build/manifest.ts restore')
    for (const file of ['README.md', 'plugins/detectors/README.md'])
      assert.ok(readFileSync(join(root, file), 'utf8').includes(`npm install ./guard-gateway-${manifest.version}.tgz`))
  })
  it('can be imported by every public name, with types beside each', async () => {
    const names = publicNames()
    assert.ok(names.length > 25, names.join(' '))
    const code = names
      .filter((name) => !/policies|assets|\.txt$|package\.json/.test(name))
      .map((name) => `guard-gateway${name.slice(1)}`)
    const text = `
      for (const name of ${JSON.stringify(code)}) {
        if (Object.keys(await import(name)).length === 0) throw new Error(name)
        console.log(import.meta.resolve(name))
      }`
    const files = (await packed.script(text)).stdout
      .trim()
      .split('\n')
      .map((url) => fileURLToPath(url))
    for (const file of files) assert.ok(existsSync(file.replace(/\.js$/, '.d.ts')), file)
  })
  for (const [name, options] of settings)
    it(`type-checks in ES modules and CommonJS for ${name}`, () => compileConsumers(packed, options))
  it('type-checks in the example of every guide', async () => {
    await copyExamples()
    await compileConsumers(packed, { module: 'nodenext', lib: ['es2024', 'esnext.disposable'] }, examples)
  })
  it('holds what types need, as others see it', async () => {
    const { problems } = (await checkPackage(createPackageFromTarballData(readFileSync(packed.archive)))) as Analysis
    // the gateway needs a Node that requires ES modules, which has no name of its own to be told by
    const expected = new Set(['FalseCJS', 'CJSResolvesToESM'])
    const found = problems.filter(
      ({ kind, entrypoint, resolutionKind }) =>
        !expected.has(kind) && resolutionKind !== 'node10' && entrypoint !== './help.txt',
    )
    assert.deepEqual(found, [])
  })
  it('depends on what its files import, and on nothing else', () => {
    const files = packed.files.filter((file) => /^dist\/.*\.js$/.test(file))
    const imported = files.flatMap((file) => [
      ...readFileSync(join(packed.installed, file), 'utf8').matchAll(
        /(?:\bfrom ?|^import ?|\bimport\()['"]([a-z@][\w@/.-]*)['"]/gm,
      ),
    ])
    const names = imported.map(([, name = '']) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? '')
    const optional = new Set(['fast-check', '@modelcontextprotocol', 'playwright-core', 'guard-gateway'])
    const needed = new Set(names.filter((name) => !isBuiltin(name) && !optional.has(name.split('/')[0] ?? '')))
    assert.deepEqual([...needed], Object.keys(packed.manifest.dependencies))
    for (const left of ['scripts', 'devDependencies', 'allowScripts', 'overrides'])
      assert.ok(!(left in packed.manifest), left)
    assert.doesNotMatch(JSON.stringify(packed.manifest), /guard-source/)
  })
  it('holds nothing that the oldest Node it promises cannot parse or lacks', () => {
    for (const file of packed.files.filter((name) => /^dist\/.*\.js$/.test(name))) {
      const text = readFileSync(join(packed.installed, file), 'utf8')
      const { errors, helpersUsed } = transformSync(file, text, { target: oldestNode })
      assert.deepEqual([errors, helpersUsed], [[], {}], file)
      assert.doesNotMatch(text, /\bnew (?:Async)?DisposableStack\b/, file)
    }
  })
  it('reads WebAssembly and Protocol Buffers that it holds itself', async () => {
    const { stdout } = await packed.script(`
      import { sql } from 'guard-gateway/plugins/mcp-checks/sql'
      import { shell } from 'guard-gateway/plugins/mcp-checks/shell'
      import { startService } from 'guard-gateway/test'
      const found = async (check, options, args) => {
        await check.prepare?.()
        const compiled = (await check.compile?.(options)) ?? options
        const [finding] = await check.find(args, compiled, { server_id: 'a', tool: 'b', cwd: undefined })
        return finding?.reason
      }
      console.log(await found(sql, { args: ['/sql'], dialect: 'postgres', operations: ['select'] }, { sql: 'drop table a' }))
      console.log(await found(shell, { args: ['/command'], allow: ['git'] }, { command: 'git log; rm -r x' }))
      const service = await startService({ backend: 'memory' })
      const headers = { 'content-type': 'application/x-protobuf' }
      console.log((await service.request('POST', '/v1/traces', [1], headers)).text.slice(-44))
      await service[Symbol.asyncDispose]()`)
    assert.equal(
      stdout,
      'does the operation drop, which is not allowed\nruns rm, which is not allowed\nThe body is not OTLP trace data in protobuf.\n',
    )
  })
  it('takes the example of every guide, named in a configuration', async () => {
    await copyExamples()
    const account = '{ region: eu-1, access_key_id: a, secret_access_key: bbbbbbbb }'
    const entry = (name: string) => (name === 'custom-signer.ts' ? `{ use: ./${name}, with: ${account} }` : `./${name}`)
    const plugins = examples.map(entry).join(', ')
    await writeFile(
      join(packed.project, 'guard-config.yml'),
      `gateway_key: guard_0123456789abcdef\nplugins: [${plugins}]\nstorage: { backend: journal }\n`,
      { mode: 0o600 },
    )
    const { stdout } = await packed.script(`
      import { createGateway, loadConfig } from 'guard-gateway'
      const gateway = await createGateway((await loadConfig('guard-config.yml', {})).config)
      await gateway.open()
      await gateway.close()
      console.log(gateway.plugins().slice(-${examples.length}).join(' '))`)
    assert.equal(
      stdout.trim(),
      'api-style/cohere_chat mcp-check/branch waiting detector/same_answer export-format/chrome_trace allowed-models import-format/build_log notifier/status_file models mcp-result-check/code_names signer storage/journal mcp-transport/tcp upstream-client/token_file',
    )
  })
  it('has a bench that starts its programs where it is installed', async () => {
    const { bin } = packed
    const { stdout } = await packed.node(bin, 'bench', 'guard --help', '--smoke', '--suite', 'throughput')
    assert.match(stdout, /guard --help/)
    for (const name of ['load/measure', 'load/provider', 'load/passthrough', 'mcp/upstream', 'mcp/sdk-server'])
      assert.ok(packed.files.includes(`dist/bench/${name}.js`), name)
  })
  it('has a command that helps, and a gateway that serves from its built files', async () => {
    const { bin } = packed
    assert.match((await packed.node(bin, '--help')).stdout, /gateway run/)
    const text = `
      import { startService } from 'guard-gateway/test'
      const service = await startService({ backend: 'sqlite' })
      const { status, headers } = await service.request('POST', '/v1/responses', { model: 'm-1', input: 'hi' })
      console.log(status, headers.get('x-guard-decision'), (await service.session(headers.get('x-guard-session-id'))).requests)
      await service[Symbol.asyncDispose]()`
    const { stdout, stderr } = await packed.script(text)
    assert.equal(stdout.trim(), '200 allow 1', stderr)
  })
  it('satisfies publint', async () => {
    await run(process.execPath, [join(modules, 'publint/src/cli.js'), packed.installed, '--strict', '--pack', 'false'])
  })
})
