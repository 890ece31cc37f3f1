import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { type Call, type Client, Gateway, type ProxyRequest } from 'guard-gateway/core'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { foundation } from 'guard-gateway/presets/foundation'
import { loadConfig } from '../../../presets/default/config.ts'
import { reload } from '../../../presets/default/reload.ts'
import { fakeClock } from '../../kit/clock.ts'

const key = 'gateway_key: guard_0123456789abcdef\n'
const env = { OPENAI_API_KEY: 'sk-openai-0123456789' }

describe('a changed configuration file', () => {
  let folder = ''
  let file = ''
  beforeEach(async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    folder = await mkdtemp(join(tmpdir(), 'guard-reload-'))
    file = join(folder, 'guard-config.yml')
  })
  afterEach(() => {
    mock.timers.reset()
    return rm(folder, { recursive: true, force: true })
  })

  const start = async (text: string) => {
    await writeFile(file, text)
    const started = (await loadConfig(file, env)).config
    const live = { ...started }
    const notices: string[] = []
    const done: string[] = []
    const told = new EventEmitter()
    const heard = (list: string[]) => (line: string) => {
      list.push(line)
      told.emit('told')
    }
    const clock = fakeClock()
    const watching = reload({ file, env, live, started, done: heard(done), notice: heard(notices) })
    const gateway = await new Gateway({ clock }).use(...foundation(), memory(), watching).open()
    const request = () => gateway.hooks.request.promise({} as Call)
    return {
      live,
      notices,
      done,
      gateway,
      clock,
      request,
      /** Lets a second pass in which nobody asks for anything, until a change is told of. */
      look: async () => {
        const next = once(told, 'told')
        mock.timers.tick(1_000)
        await next
      },
      health: () => gateway.health.get('config')?.(),
      /** Writes the file anew and lets a request come a second later. */
      change: async (changed: string) => {
        await writeFile(file, changed)
        clock.advance(1_000)
        await request()
      },
    }
  }

  it('is in force for the request that detects it', async () => {
    const { live, notices, done, change, health } = await start(key)
    assert.deepEqual(health(), { status: 'ok', generation: 1, error: null, restart_needed: [] })
    await change(
      `${key}default_mode: enforce\npassthrough: [/v1/embeddings]\nupstreams: [{ name: local, base_url: "http://127.0.0.1:1", styles: [messages], api_key: sk-local-0123456789 }]\n`,
    )
    assert.equal(live.default_mode, 'enforce')
    assert.deepEqual(live.passthrough, ['/v1/embeddings'])
    assert.deepEqual(
      live.upstreams.map(({ name }) => name),
      ['local'],
    )
    assert.deepEqual(health(), { status: 'ok', generation: 2, error: null, restart_needed: [] })
    assert.deepEqual(done, ['The changed configuration is in force.'])
    assert.match(
      notices.join('\n'),
      /^default_mode: enforce holds with the default rules, which also stop .*"preset: enforce-recommended" [^\n]*$/,
    )
    await change(`${key}default_mode: enforce\n`)
    assert.equal(notices.length, 1)
  })
  it('registers its new credentials as secrets', async () => {
    const { gateway, change } = await start(key)
    assert.equal(gateway.secrets.holds('sk-local-0123456789'), false)
    await change(
      `${key}upstreams: [{ name: local, base_url: "http://127.0.0.1:1", styles: [messages], headers: { x-team-token: team-0123456789, x-team: red-team-blue } , api_key: sk-local-0123456789 }]\n`,
    )
    assert.equal(gateway.secrets.holds('sk-local-0123456789'), true)
    assert.equal(gateway.secrets.holds('team-0123456789'), true)
    assert.equal(gateway.secrets.holds('red-team-blue'), false)
  })
  it('enables an approver key at once if there was none, and replaces one only after a restart', async () => {
    const { gateway, change, health } = await start(key)
    const restart = () => (health() as { restart_needed: readonly string[] }).restart_needed
    const { approver } = gateway
    approver.check(undefined)
    await change(`${key}mcp: { approver_key: approver-0123456789 }\n`)
    assert.deepEqual(restart(), [])
    assert.throws(() => approver.check(undefined), { code: 'APPROVER_KEY_REQUIRED' })
    approver.check('approver-0123456789')
    for (const other of ['mcp: { approver_key: of-an-agent-0123456789 }\n', '']) {
      await change(key + other)
      assert.deepEqual(restart(), ['mcp.approver_key'])
      assert.throws(() => approver.check('of-an-agent-0123456789'), { code: 'APPROVER_KEY_REQUIRED' })
      assert.throws(() => approver.check(undefined), { code: 'APPROVER_KEY_REQUIRED' })
      approver.check('approver-0123456789')
    }
  })
  it('is polled by requests at most once a second', async () => {
    const { live, clock, request } = await start(key)
    await writeFile(file, `${key}default_mode: enforce\n`)
    clock.advance(999)
    await request()
    assert.equal(live.default_mode, 'shadow')
    clock.advance(1)
    assert.equal(live.default_mode, 'shadow')
    await request()
    assert.equal(live.default_mode, 'enforce')
  })
  it('is detected by unguarded requests and health, without delay for them', async () => {
    const { live, gateway, clock, health } = await start(key)
    await writeFile(file, `${key}default_mode: enforce\n`)
    clock.advance(1_000)
    assert.equal(await gateway.hooks.proxy.promise({} as ProxyRequest, {} as Client), undefined)
    assert.equal(live.default_mode, 'enforce')
    await writeFile(file, key)
    clock.advance(1_000)
    health()
    await gateway.hooks.request.promise({} as Call)
    assert.equal(live.default_mode, 'shadow')
  })
  it('is in force within a second, even without requests', async () => {
    const { live, look, health } = await start(key)
    await writeFile(file, `${key}passthrough: [/v1/embeddings]\n`)
    await look()
    assert.deepEqual(live.passthrough, ['/v1/embeddings'])
    await writeFile(file, `${key}passthrough: embeddings\n`)
    await look()
    assert.equal((health() as { status: string }).status, 'refused')
    await writeFile(`${file}.new`, key)
    await rename(`${file}.new`, file)
    await look()
    assert.deepEqual(live.passthrough, [])
  })
  it('is not polled after the gateway closes', async () => {
    const { live, gateway, done } = await start(key)
    await gateway.close()
    await writeFile(file, `${key}passthrough: [/v1/embeddings]\n`)
    mock.timers.tick(5_000)
    await loadConfig(file, env)
    assert.deepEqual([live.passthrough, done], [[], []])
  })
  it('is detected by an older time', async () => {
    const { live, clock, request } = await start(`${key}default_mode: shadow #\n`)
    await writeFile(file, `${key}default_mode: enforce\n`)
    await utimes(file, 1, 1)
    clock.advance(1_000)
    await request()
    assert.equal(live.default_mode, 'enforce')
  })
  it('is detected if size, time and inode are equal', async () => {
    const { live, clock, request } = await start(`${key}default_mode: shadow \n`)
    await utimes(file, 1, 1)
    clock.advance(1_000)
    await request()
    await writeFile(file, `${key}default_mode: enforce\n`)
    await utimes(file, 1, 1)
    clock.advance(1_000)
    await request()
    assert.equal(live.default_mode, 'enforce')
  })
  it('is not reported if the content is the same', async () => {
    const { change, done, notices, health } = await start(key)
    await change(`${key}# a remark\n`)
    await change(key)
    assert.deepEqual([done, notices], [[], []])
    assert.equal((health() as { generation: number }).generation, 1)
    await change(`${key}default_mode: enforce\n`)
    await change(key)
    assert.equal(done.length, 2)
  })
  it('is read once by concurrent requests', async () => {
    const { done, clock, request } = await start(key)
    await writeFile(file, `${key}default_mode: enforce\n`)
    clock.advance(1_000)
    await Promise.all([request(), request(), request()])
    assert.equal(done.length, 1)
  })
  it('that is invalid changes nothing, and health reports the error', async () => {
    const { live, notices, change, health } = await start(`${key}default_mode: enforce\n`)
    await change(`${key}default_mode: enforced\n`)
    assert.equal(live.default_mode, 'enforce')
    const { status, generation, error } = health() as {
      status: string
      generation: number
      error: Record<string, unknown>
    }
    assert.equal(generation, 1)
    assert.equal(status, 'refused')
    assert.equal(error.code, 'INVALID_CONFIG')
    assert.equal(error.line, 2)
    assert.equal(error.path, 'default_mode')
    assert.match(notices[0] ?? '', /last good one stays in force\. guard-config\.yml:2:1/)
    await change(`${key}default_mode: shadow\n`)
    assert.equal(live.default_mode, 'shadow')
    assert.deepEqual(health(), { status: 'ok', generation: 2, error: null, restart_needed: [] })
  })
  it('is invalid if it names something no plugin registers', async () => {
    const { live, change, health } = await start(key)
    await change(
      `${key}default_mode: enforce\nupstreams: [{ name: a, base_url: "http://127.0.0.1:1", styles: [smoke] }]\n`,
    )
    assert.equal(live.default_mode, 'shadow')
    assert.match(
      JSON.stringify(health()),
      /guard-config\.yml:3:\d+: upstreams\[0\]\.styles\[0\]: no plugin speaks the style/,
    )
  })
  it('that is missing or too large is invalid, and reported once', async () => {
    const { live, notices, change, clock, request, health } = await start(key)
    await rm(file)
    clock.advance(1_000)
    await request()
    clock.advance(1_000)
    await request()
    assert.equal(notices.length, 1)
    assert.match(notices[0] ?? '', /does not exist/)
    await change(`${key}default_mode: enforce\n#${'x'.repeat(65_536)}\n`)
    assert.equal(live.default_mode, 'shadow')
    assert.match(JSON.stringify(health()), /larger than 65536 bytes/)
  })
  it('lists keys that need a restart, until they are restored', async () => {
    const { live, notices, change, health } = await start(key)
    await change(`${key}server: { port: 1, max_in_flight: 5 }\nplugins: [./a.ts]\ndefault_mode: enforce\n`)
    assert.equal(live.server.port, 8787)
    assert.equal(live.default_mode, 'enforce')
    const keys = ['server.port', 'server.max_in_flight', 'plugins']
    assert.deepEqual(health(), { status: 'ok', generation: 2, error: null, restart_needed: keys })
    assert.match(notices[0] ?? '', /take effect with a restart: server\.port, server\.max_in_flight, plugins\.$/)
    await change(key)
    assert.deepEqual(health(), { status: 'ok', generation: 3, error: null, restart_needed: [] })
  })
})
