import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import * as sdk from 'guard-gateway/sdk'
import { type Service, startService } from './kit/service.ts'
import { manifest, modules, root } from './packed-package.ts'

const run = promisify(execFile)

/** Records one trace through the package and says what became of it. */
const program = (load: string, url: string, name: string) => `${load}
const guard = createGuard({ baseUrl: ${JSON.stringify(url)}, handleExit: false, ingestTimeoutMs: 60_000 })
const record = async () => {
  await guard.trace(${JSON.stringify(name)}, { traceId: ${JSON.stringify(name)} }, async () => {
    await guard.tool('read_file', async () => guard.span('inside', () => 'text'))
    await guard.model({ model: 'm-1' }, async (span) => span.usage({ input_tokens: 10, output_tokens: 2 }))
  })
  await guard.close()
  console.log(JSON.stringify(guard.stats()))
}
record()
`
const ESM = `import { createGuard } from 'guard-gateway-sdk'`
const CJS = `const { createGuard } = require('guard-gateway-sdk')`

const consumer = `
import { createGuard, GuardUseError, type Guard, type GuardOptions } from 'guard-gateway-sdk'
const options: GuardOptions = { project: 'demo', mask: (value, path) => (path[0] === 'name' ? value : null) }
const guard: Guard = createGuard(options)
export const text: Promise<string> = guard.trace('job', async (trace) => {
  trace.tag('a')
  using span = guard.start('step')
  span.set({ a: 1 })
  const length: number = guard.tool('read_file', { path: 'a' }, () => 3)
  const generated: AsyncGenerator<string> = guard.model({ model: 'm' }, async function* (model) {
    model.usage({ output_tokens: length })
    yield 'a'
  })
  for await (const piece of generated) return piece
  return ''
})
export const code: string = new GuardUseError('CLOSED', '').code
// @ts-expect-error: a model request names its model
guard.model({}, () => {})
// @ts-expect-error: there is no such option
createGuard({ url: '' })
`

describe('the package of the SDK', () => {
  let folder = ''
  let project = ''
  let files: readonly string[] = []
  let size = 0
  let service: Service
  before(async () => {
    service = await startService()
    folder = await mkdtemp(join(tmpdir(), 'guard-sdk-'))
    project = join(folder, 'project')
    const built = join(folder, 'built')
    await run(process.execPath, ['--conditions=guard-source', 'plugins/replay/sdk/package/build.ts', built], {
      cwd: root,
    })
    const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
      cwd: built,
    })
    const [pack] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[]
    files = pack?.files.map(({ path }) => path) ?? []
    const archive = join(folder, pack?.filename ?? '')
    size = (await stat(archive)).size
    await mkdir(join(project, 'node_modules/guard-gateway-sdk'), { recursive: true })
    await run('tar', ['-xzf', archive, '-C', join(project, 'node_modules/guard-gateway-sdk'), '--strip-components=1'])
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })
  const installed = (): Record<string, unknown> =>
    JSON.parse(readFileSync(join(project, 'node_modules/guard-gateway-sdk/package.json'), 'utf8'))

  it('is small, depends on nothing and has the version of the gateway', () => {
    const { name, version, dependencies, peerDependencies, scripts } = installed()
    assert.deepEqual([name, version], ['guard-gateway-sdk', manifest.version])
    assert.deepEqual([dependencies, peerDependencies, scripts], [undefined, undefined, undefined])
    assert.ok(size < 150_000, `${size} bytes`)
    for (const file of ['README.md', 'LICENSE', 'esm/index.js', 'cjs/index.js', 'esm/index.d.ts', 'cjs/index.d.ts'])
      assert.ok(files.includes(file), file)
    const page = readFileSync(join(project, 'node_modules/guard-gateway-sdk/README.md'), 'utf8')
    assert.ok(page.includes('in Guard Gateway:') && !page.includes(']('))
    for (const file of files) assert.match(file, /^(?:package\.json|README\.md|LICENSE|(?:esm|cjs)\/[\w/.-]+)$/)
  })

  const ways: readonly (readonly [name: string, file: string, text: (url: string) => string])[] = [
    ['as ESM', 'esm.mjs', (url) => program(ESM, url, 'sdk-esm')],
    ['as CommonJS', 'cjs.cjs', (url) => program(CJS, url, 'sdk-cjs')],
    [
      'in a worker thread',
      'worker.mjs',
      (url) => `import { Worker } from 'node:worker_threads'
new Worker(new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(program('', url, 'sdk-worker'))}.replace(/^/, 'import { createGuard } from ' + JSON.stringify(import.meta.resolve('guard-gateway-sdk')) + ';'))))`,
    ],
  ]
  for (const [name, file, text] of ways)
    it(`records ${name}, through a real gateway`, async () => {
      await writeFile(join(project, file), text(service.gateway.url))
      const { stdout, stderr } = await run(process.execPath, [file], { cwd: project })
      assert.deepEqual(JSON.parse(stdout), { queued: 0, sent: 4, dropped: 0, failed: 0, unknown: 0 }, stderr)
      const answer = await service.request('GET', `/api/v1/runs/sdk-${file.split('.')[0]}`)
      assert.equal(answer.status, 200, answer.text)
      const { run: stored, spans } = JSON.parse(answer.text)
      assert.deepEqual([stored.status, stored.input_tokens, stored.output_tokens], ['ok', 10, 2])
      assert.deepEqual(spans.map((span: { name: string }) => span.name).sort(), [
        'agent.run',
        'gen_ai.request',
        'inside',
        'tool.call',
      ])
    })

  it('exports what guard-gateway/sdk exports, in both forms', async () => {
    const text = `${CJS.replace('{ createGuard }', 'cjs')}; import('guard-gateway-sdk').then((esm) => console.log(JSON.stringify([Object.keys(cjs), Object.keys(esm)])))`
    await writeFile(join(project, 'names.cjs'), text)
    const { stdout } = await run(process.execPath, ['names.cjs'], { cwd: project })
    const names = Object.keys(sdk).sort()
    for (const found of JSON.parse(stdout) as string[][])
      assert.deepEqual(found.filter((name) => name !== 'default' && name !== 'module.exports').sort(), names)
  })

  const resolutions = [
    ['nodenext', { module: 'nodenext' }, ['consumer.mts', 'consumer.cts']],
    ['node16', { module: 'node16' }, ['consumer.mts', 'consumer.cts']],
    ['a bundler', { module: 'esnext', moduleResolution: 'bundler' }, ['consumer.ts']],
    ['commonjs', { module: 'commonjs', moduleResolution: 'bundler' }, ['consumer.cts']],
  ] as const
  for (const [name, options, consumers] of resolutions)
    it(`has types for strict consumers: ${name}`, async () => {
      await mkdir(join(project, 'node_modules/@types'), { recursive: true })
      await symlink(join(modules, '@types/node'), join(project, 'node_modules/@types/node')).catch(() => {})
      await symlink(join(modules, 'undici-types'), join(project, 'node_modules/undici-types')).catch(() => {})
      for (const file of consumers) await writeFile(join(project, file), consumer)
      const examples = [
        ...readFileSync(join(root, 'plugins/replay/sdk/README.md'), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g),
      ]
      assert.ok(examples.length > 1)
      const shown = name === 'nodenext' ? examples.map(([, text = ''], at) => ({ text, file: `readme-${at}.mts` })) : []
      for (const { text, file } of shown) await writeFile(join(project, file), text)
      const compilerOptions = {
        target: 'es2022',
        lib: ['es2022'],
        types: ['node'],
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        skipLibCheck: false,
        ...options,
      }
      await writeFile(
        join(project, 'tsconfig.json'),
        JSON.stringify({ compilerOptions, files: [...consumers, ...shown.map(({ file }) => file)] }),
      )
      const { stdout } = await run(process.execPath, [join(modules, 'typescript/bin/tsc'), '-p', project]).catch(
        (error: { stdout: string }) => error,
      )
      assert.equal(stdout, '')
    })

  it('satisfies publint', async () => {
    const publint = join(modules, 'publint/src/cli.js')
    await run(process.execPath, [
      publint,
      join(project, 'node_modules/guard-gateway-sdk'),
      '--strict',
      '--pack',
      'false',
    ])
  })
})
