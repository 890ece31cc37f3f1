import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { main } from '../../../presets/default/main.ts'
import { fakeIo } from '../../kit/io.ts'

const root = join(import.meta.dirname, '../../..')
const bin = join(root, 'presets/default/bin.js')
const conditions = '--conditions=guard-source'
const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
const environment = { PATH, HOME, NODE_COMPILE_CACHE }
/** What loads least and is not answered at once. */
const FEW = ['mcp', 'run', '--help'] as const
const preload = (source: string): string => `--import=data:text/javascript,${encodeURIComponent(source)}`

const start = (
  cwd: string,
  argv: readonly string[],
  nodeOptions: readonly string[] = [],
  env: NodeJS.ProcessEnv = environment,
) =>
  spawn(process.execPath, [conditions, ...nodeOptions, bin, ...argv], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })

const run = async (cwd: string, argv: readonly string[], nodeOptions: readonly string[] = []) => {
  const child = start(cwd, argv, nodeOptions)
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { out, err, code }
}

/** Resolves to what the child has said on stderr once it holds `part`. */
const saying = (child: ChildProcess, part: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let said = ''
    child.stderr?.on('data', (chunk) => {
      said += String(chunk)
      if (said.includes(part)) resolve(said)
    })
    child.once('close', () => reject(new Error(`ended before it said "${part}": ${said}`)))
  })

describe('the binary', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-bin-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('runs where nothing can be made in the home folder', { timeout: 60_000 }, async () => {
    const child = start(folder, [...FEW], [], { PATH, HOME: '/proc' })
    const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
    assert.match(out, /mcp run/)
    assert.equal(code, 0)
  })
  it('rejects an unsupported Node in one line, before it loads anything', async () => {
    const old = "Object.defineProperty(process, 'versions', { value: { node: '22.18.1' } })"
    const { code, out, err } = await run(folder, ['--version'], [preload(old)])
    assert.equal(code, 1)
    assert.equal(out, '')
    assert.match(
      err,
      /^Guard Gateway needs Node 22\.19 or newer; this is 22\.18\.1\. Install a newer Node, or run "npx -p node@24 -p guard-gateway guard …"\.\n$/,
    )
  })
  it('loads the MCP proxy without HTTP server, pages or detection', async () => {
    const log =
      "import { registerHooks } from 'node:module'; import { isMainThread } from 'node:worker_threads'; if (isMainThread) registerHooks({ load(url, context, next) { process.stderr.write(url + '\\n'); return next(url, context) } })"
    const own = await mkdtemp(join(folder, 'mcp-'))
    const words = ['mcp', 'run', '--server-id', 'quiet', '--', process.execPath, '-e', 'process.stdin.resume()']
    const { code, out, err } = await run(own, words, [preload(log)])
    await rm(own, { recursive: true })
    assert.deepEqual([code, out], [0, ''])
    assert.match(err, /^file:.*\/plugins\/mcp\/relay\/client-relay\.ts$/m)
    const loaded = err.split('\n').filter((line) => line.startsWith('file:'))
    for (const part of [
      'fastify',
      'kysely',
      'better-sqlite3',
      'yaml',
      'ajv',
      'libpg-query',
      'web-tree-sitter',
      'typebox',
      'protobufjs',
    ])
      assert.ok(!loaded.some((url) => url.includes(`/node_modules/${part}/`)), part)
    const others = loaded.filter((url) =>
      /\/plugins\/(?:api-styles|detectors|docs|http|metrics|otlp|playground|policy|ui|upstream)\/|\/page\/|routes\.ts$|\/command-(?!run)[\w-]+\.ts$/.test(
        url,
      ),
    )
    assert.deepEqual(
      others.filter((url) => !/\/command-(?:config|context|names)\.ts$/.test(url)),
      [],
    )
  })
  it('prints a status line without loading other commands', async () => {
    const log =
      "import { registerHooks } from 'node:module'; registerHooks({ load(url, context, next) { process.stderr.write(url + '\\n'); return next(url, context) } })"
    const { code, out, err } = await run(folder, ['statusline'], [preload(log)])
    assert.deepEqual([code, out], [0, '\n'])
    const all = (pattern: RegExp) => [...new Set([...err.matchAll(pattern)].map(([, name]) => name))].sort()
    const packages = all(/\/node_modules\/((?:@[\w-]+\/)?[\w-]+)/g)
    assert.deepEqual(packages, ['cac', 'fast-string-truncated-width', 'fastest-levenshtein', 'tapable', 'tiny-lru'])
    assert.deepEqual(all(/\/plugins\/([\w-]+)\/index\.ts$/gm), ['cli', 'clients'])
  })
  it('uses the compile cache on the second run', async () => {
    const log = "process.on('exit', () => process.stderr.write(process.moduleLoadList.join('\\n')))"
    const env = { PATH, HOME: await mkdtemp(join(folder, 'home-')) }
    const stripped = async (): Promise<boolean> => {
      const child = start(folder, FEW, [preload(log)], env)
      const [err] = await Promise.all([text(child.stderr), text(child.stdout), once(child, 'close')])
      assert.match(err, /^NativeModule internal\/modules\/typescript$/m)
      return err.includes('/amaro/')
    }
    assert.deepEqual([await stripped(), await stripped()], [true, false])
    await rm(env.HOME, { recursive: true })
  })
  it('prints help without loading server or storage code', async () => {
    const log =
      "import { registerHooks } from 'node:module'; registerHooks({ load(url, context, next) { process.stderr.write(url + '\\n'); return next(url, context) } })"
    const { code, out, err } = await run(folder, ['gateway', 'run', '--help'], [preload(log)])
    assert.equal(code, 0)
    assert.match(out, /Usage: guard gateway run/)
    const packages = new Set([...err.matchAll(/node_modules\/((?:@[\w-]+\/)?[\w-]+)/g)].map(([, name]) => name))
    assert.ok(packages.has('tapable'), 'the log of loaded modules works')
    for (const heavy of ['fastify', 'kysely', 'better-sqlite3', 'yaml', 'ajv', 're2js'])
      assert.ok(!packages.has(heavy), `${heavy} is loaded`)
    assert.deepEqual(await readdir(folder), [])
  })
  it('exits silently on a closed reader, and with one line on an output error', async () => {
    const full =
      "process.stdout._write = (chunk, encoding, done) => done(Object.assign(new Error('no space left'), { code: 'ENOSPC' }))"
    for (const argv of [['--help'], ['--version'], ['explain', 'LOOP_EXACT']]) {
      const left = start(folder, argv)
      left.stdout.destroy()
      assert.deepEqual(await Promise.all([text(left.stderr), once(left, 'close')]), ['', [0, null]], argv[0])
      const { code, err } = await run(folder, argv, [preload(full)])
      assert.deepEqual([code, err], [1, 'error: the output cannot be written: no space left\n'], argv[0])
    }
  })
  it('continues if its log cannot be written', async () => {
    const full =
      "process.stderr._write = (chunk, encoding, done) => done(Object.assign(new Error('no space left'), { code: 'ENOSPC' }))"
    assert.equal((await run(folder, ['nosuch'], [preload(full)])).code, 2)
  })
  it('starts in an empty folder, serves, drains on SIGTERM, and writes nothing new on the next start', async () => {
    const first = start(folder, ['gateway', 'run', '--port', '0'])
    const said = await saying(first, 'Stop with Ctrl-C.')
    const [, url = ''] =
      /^Guard Gateway \d+\.\d+\.\d+ {2}(http:\/\/127\.0\.0\.1:\d+) {2}shadow {2}storage guard\.db$/m.exec(said) ?? []
    const config = await readFile(join(folder, 'guard-config.yml'), 'utf8')
    const [, key = ''] = /^gateway_key: (\S+)/m.exec(config) ?? []
    assert.ok(key.length > 40 && !said.includes(key), 'the key is not told')
    assert.match(said, /Wrote guard-config\.yml .*line 3, gateway_key/)
    assert.equal((await stat(join(folder, 'guard.db'))).mode & 0o777, 0o600)
    const refused = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    assert.equal(refused.status, 401)
    const known = await fetch(`${url}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] }),
      headers: { 'content-type': 'application/json', 'x-api-key': key },
    })
    assert.equal(known.status, 404, 'the key is accepted, and there is no upstream')
    const port = new URL(url).port

    const taken = fakeIo({ cwd: folder })
    assert.equal(await main(['gateway', 'run', '--port', port, '--data', 'other.db'], taken), 69)
    assert.match(taken.errText(), /is taken: a Guard Gateway \d+\.\d+\.\d+ is running there already/)
    assert.ok(!(await readdir(folder)).includes('other.db'), 'the database is not opened')

    const locked = fakeIo({ cwd: folder })
    assert.equal(await main(['gateway', 'run', '--port', '0', '-q'], locked), 69)
    assert.match(locked.errText(), /^error: [^\n]* \(DATABASE_LOCKED\)\n$/)

    first.kill('SIGTERM')
    assert.deepEqual(await once(first, 'close'), [0, null])

    const opener = process.platform === 'darwin' ? 'open' : 'xdg-open'
    const [browser, opened] = [join(folder, 'browser'), join(folder, 'opened')]
    await mkdir(browser)
    const script = `#!${process.execPath}\nrequire('fs').writeFileSync(${JSON.stringify(opened)}, process.argv[2] + '\\n')\n`
    await writeFile(join(browser, opener), script, { mode: 0o755 })
    const desktop = { ...environment, PATH: `${browser}:${PATH}`, DISPLAY: ':0' }
    const second = start(folder, ['gateway', 'run', '--port', '0', '--open'], [], desktop)
    const again = await saying(second, 'storage guard.db\n')
    assert.doesNotMatch(again, /Wrote|Next/)
    const shown = async (): Promise<string> => {
      const url = await readFile(opened, 'utf8').catch(() => '')
      if (url.endsWith('\n')) return url.trim()
      await setTimeout(20)
      return shown()
    }
    assert.ok(again.includes(` ${await shown()} `), again)
    assert.equal(await readFile(join(folder, 'guard-config.yml'), 'utf8'), config)
    second.kill('SIGINT')
    assert.deepEqual(await once(second, 'close'), [0, null])
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    it(`drains on ${signal} under npm`, async () => {
      const file = join(folder, 'npm.yml')
      await writeFile(file, 'gateway_key: guard_key_of_a_gateway_that_npm_starts\n', { mode: 0o600 })
      const words = ['start', '--', '--config', file, '--port', '0', '--data', join(folder, 'npm.db')]
      const child = spawn('npm', words, {
        cwd: root,
        env: environment,
        stdio: ['ignore', 'ignore', 'pipe'],
        detached: true,
      })
      await saying(child, 'storage ')
      // a terminal sends its signal to npm and to the gateway, and npm passes on what it gets
      if (signal === 'SIGINT') process.kill(-Number(child.pid), signal)
      else child.kill(signal)
      assert.deepEqual(await once(child, 'close'), [0, null])
    })
})
