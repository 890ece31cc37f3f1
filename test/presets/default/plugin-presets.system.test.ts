import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { main } from '../../../presets/default/main.ts'
import { startGateway } from '../../kit/gateway.ts'
import { fakeIo } from '../../kit/io.ts'
import { mcpRun } from '../../kit/mcp-run.ts'

const command = import.meta.resolve('guard-gateway/lib/command')
const files = {
  // shaped like plugins/metrics
  'counter.mjs': `export const counter = { name: 'counter', requires: ['http'], apply({ hooks }) {
    hooks.http.tap('counter', (app) => { app.get('/api/counter', () => ({ count: 1 })) }) } }
export const reader = { name: 'reader', requires: ['counter'], apply() {} }`,
  'nobody.mjs': "export const nobody = { name: 'nobody', requires: ['nonsense'], apply() {} }",
  'options.mjs': `export const options = { options: { type: 'object', properties: { token: { type: 'string' } } },
    create: () => ({ name: 'options', requires: ['http'], apply() {} }) }`,
  'sessions.mjs': `import { commandKind } from '${command}'
export const extra = { name: 'extra', requires: ['http'], apply(gateway) {
  const records = (work) => gateway.service('records').need()(work)
  gateway.hooks.http.tap('extra', (app) => { app.get('/api/extra', async () => ({ own: (await gateway.storage.find('sessions', { limit: 10 })).rows.length })) })
  gateway.registry(commandKind).add({ id: 'extra stop', args: '<session>', summary: 'pause', run: async ({ args: [id] }, { out }) => {
    const { session } = await records((ask) => ask('POST', '/api/sessions/' + id + '/pause', { reason: 'by extra' }))
    out.write((await records((ask) => ask('GET', '/api/extra'))).own + ' ' + session.paused + '\\n')
    return 0
  } })
  gateway.registry(commandKind).add({ id: 'extra list', summary: 'list', run: async (_input, { out }) => {
    const { sessions } = await records((ask) => ask('GET', '/api/sessions'))
    for (const { external_id, pause_reason } of sessions) out.write(external_id + ' ' + pause_reason + '\\n')
    return 0
  } })
  gateway.registry(commandKind).add({ id: 'extra absent', summary: 'fail', run: () => records((ask) => ask('GET', '/api/sessions/none')) })
} }`,
  'taken.mjs': `import { commandKind } from '${command}'
export const taken = { name: 'taken', apply(gateway) {
  gateway.registry(commandKind).add({ id: 'doctor', summary: 'x', run: async () => 0 }) } }`,
  'table.mjs':
    "export const table = { name: 'table', apply(gateway) { gateway.tables.add({ id: 'sessions', columns: {} }) } }",
  'route.mjs':
    "export const route = { name: 'route', apply({ hooks }) { hooks.http.tap('route', (app) => { app.get('/replay', () => 'mine') }) } }",
  'other.mjs':
    "export const other = { name: 'other', apply({ hooks }) { hooks.http.tap('other', (app) => { app.get('/api/counter', () => 'mine') }) } }",
  'style.mjs': `const style = { id: 'twin', paths: ['/v1/messages'], list: 'messages', envelope() {}, parts: () => [], meter() {}, refusal: () => ({}) }
export const twin = { name: 'twin', apply: (gateway) => gateway.apiStyles.add(style) }`,
  'pattern.mjs': `const style = { id: 'pattern', paths: ['/v1beta/{+name}:generateContent'], list: 'messages', envelope() {}, parts: () => [], meter() {}, refusal: () => ({}) }
export const pattern = { name: 'pattern', apply: (gateway) => gateway.apiStyles.add(style) }`,
  'page.mjs': `export const page = { name: 'page', apply(gateway) { gateway.hooks.http.tapPromise('page', async () => {
    const { pageKind } = await import('${import.meta.resolve('guard-gateway/lib/page')}')
    const [first] = gateway.registry(pageKind)
    gateway.registry(pageKind).add(first) }) } }`,
}

describe('plugin files of a configuration', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-presets-'))
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const guard = async (plugins: string, words: readonly string[], more = '', key = 'guard_0123456789abcdef') => {
    const config = `gateway_key: ${key}\nplugins: [${plugins}]\n${more}`
    await writeFile(join(folder, 'guard-config.yml'), config, { mode: 0o600 })
    const io = fakeIo({ cwd: folder })
    return { code: await main(words, io), out: io.outText(), err: io.errText() }
  }

  it('are left out of "guard mcp run" with a notice, where they require what it lacks', async () => {
    const plugins = ['counter', 'nobody', 'options'].map((name) => join(folder, `${name}.mjs`))
    await using run = await mcpRunWith(
      `storage: { backend: memory }\nplugins: ["${plugins[0]}", "${plugins[1]}", { use: "${plugins[2]}", with: { token: "\${UNSET_TOKEN}" } }]`,
    )
    run.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize }))
    assert.equal(JSON.parse(await run.next()).id, 1)
    run.end()
    assert.equal(await run.code, 0)
    const said = run.io.errText()
    assert.match(
      said,
      /"counter" \(counter\.mjs\) is left out: it requires "http", which the preset mcp-stdio does not have\./,
    )
    assert.match(said, /"reader" \(counter\.mjs\) is left out: it requires "counter"/)
    assert.match(said, /"nobody" \(nobody\.mjs\) is left out: it requires "nonsense"/)
    assert.match(said, /"options" \(options\.mjs\) is left out: it requires "http"/)
  })
  it('run beside every command of the default preset', async () => {
    const bench = await guard('./counter.mjs', ['bench', '--help'])
    assert.deepEqual([bench.code, bench.err], [0, ''])
    const explained = await guard('./counter.mjs', ['explain', 'USAGE'])
    assert.deepEqual([explained.code, explained.err], [0, ''])
    const listed = await guard('./counter.mjs', ['sessions', 'list'], 'storage: { file: a.db }')
    assert.deepEqual([listed.code, listed.err], [0, 'There are no such sessions.\n'])
    const doctor = await guard(
      './counter.mjs, { use: ./options.mjs, with: { token: abcdefghijkl } }',
      ['doctor'],
      'storage: { file: a.db }',
    )
    assert.match(doctor.out, /plugin counter of counter\.mjs\n/)
    assert.match(doctor.out, /plugin options of options\.mjs, with token\n/)
    assert.doesNotMatch(doctor.out + doctor.err, /abcdefghijkl/)
  })
  it('that require what nobody provides are an error in the default preset', async () => {
    const { code, err } = await guard('./nobody.mjs', ['sessions', 'list'], 'storage: { file: a.db }')
    assert.equal(code, 78)
    assert.match(
      err,
      /guard-config\.yml:2:11: plugins\[0\]: .*nobody\.mjs cannot be applied: Plugin "nobody" needs "nonsense" before it; applied so far: /,
    )
  })
  it('bring commands that read and change records, beside a gateway that runs and without one', async () => {
    await using gateway = await startedIn(folder)
    const ask = (id: string) =>
      gateway.request(
        'POST',
        '/v1/chat/completions',
        { model: 'm-1', messages: [{ role: 'user', content: id }] },
        { 'x-guard-session-id': id },
      )
    await ask('one')
    await ask('two')
    const at = (port: number, ...words: string[]) =>
      guard('./sessions.mjs', words, `server: { port: ${port} }\nstorage: { file: guard.db }`, gateway.key)
    const port = Number(new URL(gateway.url).port)
    assert.deepEqual(await at(port, 'extra', 'stop', 'one'), { code: 0, out: '2 true\n', err: '' })
    const session = (await gateway.request('GET', '/api/sessions/one')).json as { session: { paused: boolean } }
    assert.equal(session.session.paused, true, 'the gateway that runs knows')
    await gateway.close()
    assert.deepEqual(await at(port, 'extra', 'stop', 'two'), { code: 0, out: '2 true\n', err: '' })
    const { out } = await at(port, 'extra', 'list')
    assert.deepEqual(out.trim().split('\n').toSorted(), ['one by extra', 'two by extra'])
    const absent = await at(port, 'extra', 'absent')
    assert.deepEqual([absent.code, absent.out], [1, ''])
    assert.match(absent.err, /There is no session "?none"?.*\(SESSION_NOT_FOUND\)/)
  })
  it('that clash with another plugin are told with both, the file and the thing', async () => {
    for (const [plugins, said] of [
      ['./taken.mjs', /command "doctor" is registered twice: by plugin "taken" \(.*\/taken\.mjs\) and this program\./],
      [
        './table.mjs',
        /table\.mjs cannot be applied: .*table "sessions" is registered twice: by plugin "sessions" and plugin "table" \(.*\/table\.mjs\)\./,
      ],
      ['./route.mjs', /The plugins "route" \(.*\/route\.mjs\) and "ui" both declare the route GET \/replay\/?\./],
      [
        './counter.mjs, ./other.mjs',
        /The plugins "counter" \(.*\/counter\.mjs\) and "other" \(.*\/other\.mjs\) both declare the route GET \/api\/counter\./,
      ],
      [
        './style.mjs',
        /API styles "messages", added by plugin "api-style\/messages", and "twin", added by plugin "twin" \(.*\/style\.mjs\), both serve POST \/v1\/messages\./,
      ],
      [
        './pattern.mjs',
        /API styles "gemini", added by plugin "api-style\/gemini", and "pattern", added by plugin "pattern" \(.*\), both serve POST \/v1beta\/\{\+name\}:generateContent\./,
      ],
      ['./page.mjs', /page "[^"]+" is registered twice: by plugin "\w+" and plugin "page" \(.*\/page\.mjs\)\./],
    ] as const) {
      const { code, err } = await guard(plugins, ['gateway', 'run', '--port', '0'], 'storage: { backend: memory }')
      assert.equal(code, 78, err)
      assert.match(err, said)
    }
  })
})

const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }

const mcpRunWith = async (config: string) => {
  const run = await mcpRun({ config })
  return Object.assign(run, { [Symbol.asyncDispose]: () => run.close() })
}

/** A gateway of the built-in plugins and the command's own, on a database of the folder. */
const startedIn = async (folder: string) => {
  const { extra } = (await import(join(folder, 'sessions.mjs'))) as { extra: never }
  const gateway = await startGateway({ backend: 'sqlite', folder, plugins: [extra], upstream: 'http://127.0.0.1:9' })
  return Object.assign(gateway, { [Symbol.asyncDispose]: () => gateway.close().catch(() => {}) })
}
