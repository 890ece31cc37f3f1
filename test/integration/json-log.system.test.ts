import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { guardProgram } from '../kit/child-gateway.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-json-log-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** Starts a gateway whose log is for a collector. */
const start = (...more: readonly string[]) => {
  const argv = [...guardProgram, 'gateway', 'run', '--port', '0', '--json', ...more]
  const child = spawn(process.execPath, argv, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err += text
  })
  const closed = once(child, 'close') as Promise<[number | null]>
  const holds = (name: 'out' | 'err', part: string) =>
    new Promise<void>((found, missing) => {
      const look = () => {
        if (said[name].includes(part)) found()
      }
      child.stdout.on('data', look)
      child.stderr.on('data', look)
      look()
      void closed.then(() => missing(new Error(`ended without ${part}: ${said.out}${said.err}`)))
    })
  return { child, said, holds, closed }
}

const PLUGIN = `export const crash = { name: 'crash', apply(gateway) {
  gateway.hooks.listen.tap('crash', () => {
    process.emitWarning('an old function', 'DeprecationWarning')
    setTimeout(() => { throw new Error('in a timer') })
  })
} }
`

it('with --json every line of the log is JSON: first start, warnings, faults of plugins, changes of the configuration', async () => {
  const first = start('--host', '0.0.0.0', '--allow-remote')
  await first.holds('err', 'Nobody can administer it yet')
  first.child.kill('SIGTERM')
  assert.deepEqual(await first.closed, [0, null])
  writeFileSync(join(folder, 'crash.js'), PLUGIN)
  appendFileSync(join(folder, 'guard-config.yml'), 'plugins: [./crash.js]\n')
  const second = start()
  await second.holds('out', 'http://127')
  await second.holds('err', 'in a timer')
  appendFileSync(join(folder, 'guard-config.yml'), 'nonsense: 1\n')
  await second.holds('err', 'nonsense')
  second.child.kill('SIGTERM')
  assert.deepEqual(await second.closed, [0, null])
  const refused = start()
  assert.deepEqual(await refused.closed, [78, null])
  const text = first.said.err + second.said.err + refused.said.err
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
  assert.equal([first, second].map(({ said }) => JSON.parse(said.out).version).length, 2)
  const has = (name: string, pattern: RegExp) =>
    assert.ok(
      lines.some((line) => pattern.test(typeof line[name] === 'string' ? line[name] : '')),
      `${name} ${pattern}: ${text}`,
    )
  has('notice', /^Wrote guard-config\.yml with a new gateway key/)
  has('warning', /^Only requests to 127\.0\.0\.1, localhost and \[::1\] are answered/)
  has('warning', /^Nobody can administer it yet/)
  has('warning', /^DeprecationWarning: an old function$/)
  has('warning', /The changed configuration is not used.*nonsense/)
  has('message', /^Error: in a timer$/)
  assert.ok(lines.some(({ error }) => (error as { readonly code?: string } | undefined)?.code === 'INVALID_CONFIG'))
})
