import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { main } from '../../../presets/default/main.ts'
import { fakeIo } from '../../kit/io.ts'

const core = import.meta.resolve('guard-gateway/core')
const command = import.meta.resolve('guard-gateway/lib/command')
const things = {
  error: "new Error('said so')",
  text: "'said so'",
  nothing: 'undefined',
  null: 'null',
  frozen: "Object.freeze(new Error('said so'))",
  bare: 'Object.create(null)',
  getter:
    "Object.defineProperties(new Error(''), { message: { get() { throw 1 } }, stack: { get() { throw 1 } }, code: { get() { throw 1 } } })",
}
/** Where a plugin file can throw before anything is served, or in a command. */
const places: Readonly<Record<string, { source(thing: string): string; words: readonly string[]; said: RegExp }>> = {
  load: {
    source: (thing) => `throw ${thing}`,
    words: ['sessions', 'list'],
    said: /plugin\.mjs cannot be loaded as a plugin: /,
  },
  create: {
    source: (thing) => `export const mine = { options: { type: 'object' }, create() { throw ${thing} } }`,
    words: ['sessions', 'list'],
    said: /plugin\.mjs cannot be created: /,
  },
  apply: {
    source: (thing) => `export const mine = { name: 'mine', apply() { throw ${thing} } }`,
    words: ['sessions', 'list'],
    said: /plugin\.mjs cannot be applied: /,
  },
  open: {
    source: (thing) =>
      `export const mine = { name: 'mine', apply({ hooks }) { hooks.open.tapPromise('mine', async () => { throw ${thing} }) } }`,
    words: ['sessions', 'list'],
    said: /The plugin "mine" \(\S+plugin\.mjs\) failed in its hook "open": .*Correct .* \(PLUGIN_FAILED\)\n/,
  },
  http: {
    source: (thing) =>
      `export const mine = { name: 'mine', apply({ hooks }) { hooks.http.tap('mine', () => { throw ${thing} }) } }`,
    words: ['sessions', 'list'],
    said: /The plugin "mine" \(\S+plugin\.mjs\) failed in its hook "http": .*Correct .* \(PLUGIN_FAILED\)\n/,
  },
  command: {
    source: (thing) => `import { commandKind } from '${command}'
export const mine = { name: 'mine', apply(gateway) { gateway.registry(commandKind).add({ id: 'mine', summary: 'x', run: async () => { throw ${thing} } }) } }`,
    words: ['mine'],
    said: /^error: The plugin "mine" \(\S+plugin\.mjs\) failed in its command "mine": .*Correct .* \(PLUGIN_FAILED\)\n/,
  },
  'standalone command': {
    source: (thing) => `import { commandKind } from '${command}'
const run = () => { throw ${thing} }
export const mine = { name: 'mine', apply(gateway) { gateway.registry(commandKind).add({ id: 'my own', summary: 'x', standalone: true, run }) } }`,
    words: ['my', 'own'],
    said: /^error: The plugin "mine" \(\S+plugin\.mjs\) failed in its command "my own": .*Correct .* \(PLUGIN_FAILED\)\n/,
  },
}

describe('a plugin file that throws', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-throws-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))
  const files = { n: 0 }
  const guard = async (source: string, words: readonly string[], storage = '{ backend: sqlite, file: a.db }') => {
    const home = join(folder, String(files.n++))
    const { mkdir } = await import('node:fs/promises')
    await mkdir(home)
    await writeFile(join(home, 'plugin.mjs'), source)
    const config = `gateway_key: guard_0123456789abcdef\nplugins: [./plugin.mjs]\nstorage: ${storage}\n`
    await writeFile(join(home, 'guard-config.yml'), config, { mode: 0o600 })
    const io = fakeIo({ cwd: home })
    return { code: await main(words, io), err: io.errText(), out: io.outText() }
  }

  for (const [place, { source, words, said }] of Object.entries(places))
    it(`in "${place}" is told, whatever it throws`, async () => {
      for (const [name, thing] of Object.entries(things)) {
        const { code, err } = await guard(source(thing), words)
        assert.ok(code === 1 || code === 78, `${name}: ${code}`)
        assert.match(err, said, name)
        for (const flag of ['--verbose', '--json'])
          assert.equal((await guard(source(thing), [...words, flag])).code, code)
      }
    })
  it('tells its causes and its own lines, as text and as JSON', async () => {
    const source = (thrown: string) => `import { storage } from '${core}'
const fail = async () => { throw ${thrown} }
export const mine = { name: 'mine', apply({ hooks }) { hooks.open.tapPromise('mine', fail) } }
export const kept = storage({ id: 'kept', open: fail })`
    const words = ['sessions', 'list']
    const told = async (thrown: string, storage?: string) => {
      const { error } = JSON.parse((await guard(source(thrown), [...words, '--json'], storage)).err)
      return { err: (await guard(source(thrown), words, storage)).err, error }
    }
    const bug = await told("new Error('rules of guard_0123456789abcdef', { cause: new TypeError('no rules') })")
    assert.match(bug.err, /"open": rules of \S+: no rules\. Correct .*\n {4}at fail \(file:\S+plugin\.mjs:2:\d+\)\n/)
    assert.doesNotMatch(bug.err + JSON.stringify(bug.error), /guard_0123456789abcdef|taps\.ts/)
    const { code, plugin, hook, file, causes, stack, hint } = bug.error
    assert.deepEqual([code, plugin, hook, causes[1]], ['PLUGIN_FAILED', 'mine', 'open', 'no rules'])
    assert.match([file, stack[0], hint].join(' '), /plugin\.mjs fail \(file:\S+:2:\d+\) Correct/)

    // what it met is no mistake in its code
    const refused =
      "Object.assign(new AggregateError([new Error('connect ECONNREFUSED 127.0.0.1:9')], ''), { code: 'ECONNREFUSED' })"
    const met = await told(`new TypeError('fetch failed', { cause: ${refused} })`)
    assert.match(met.err, /"open": fetch failed: connect ECONNREFUSED 127\.0\.0\.1:9\. Correct [^\n]*\n$/)
    assert.equal(met.error.stack, undefined)

    // a backend of the user's, not the store that opens it
    const { error } = await told("'said so'", '{ backend: kept }')
    assert.deepEqual([error.plugin, error.causes], ['storage/kept', ['threw said so']])

    const inCommand = await guard(places.command?.source("'said so'") ?? '', ['mine', '--json'])
    const said = JSON.parse(inCommand.err).error
    assert.deepEqual(
      [said.plugin, said.command, said.causes, said.stack],
      ['mine', 'mine', ['threw said so'], undefined],
    )
  })
  it('as it taps a hook that is not there is told with that and the hooks there are', async () => {
    const source = "export const mine = { name: 'mine', apply({ hooks }) {\n  hooks.requests.tap('mine', () => {})\n} }"
    const { code, err } = await guard(source, ['sessions', 'list'])
    assert.equal(code, 78)
    assert.match(
      err,
      /plugin\.mjs cannot be applied: plugin\.mjs:2: There is no hook "requests", which plugin "mine" \(\S+plugin\.mjs\) taps; there is open, http, listen, request, /,
    )
  })
  it('with a code of its own is told with it, which explain knows', async () => {
    const codes = `import { errorCodes, GuardError } from '${core}'
import { commandKind } from '${command}'
const codes = errorCodes(409, 'conflict_error', { NOT_TODAY: ['It is not today', 'Come back tomorrow.'] })
export const mine = { name: 'mine', apply(gateway) {
  gateway.errorCodes.add(...Object.values(codes))
  gateway.registry(commandKind).add({ id: 'mine', summary: 'x', run: async () => { throw new GuardError(codes.NOT_TODAY) } })
  gateway.registry(commandKind).add({ id: 'other', summary: 'x', run: async () => { throw new GuardError('NO_SUCH_CODE') } })
} }`
    const own = await guard(codes, ['mine'])
    assert.deepEqual([own.code, own.err], [1, 'error: It is not today. Come back tomorrow. (NOT_TODAY)\n'])
    const explained = await guard(codes, ['explain', 'NOT_TODAY'])
    assert.equal(explained.out, 'NOT_TODAY  HTTP 409  conflict_error\nIt is not today.\nCome back tomorrow.\n')
    const unknown = await guard(codes, ['other'])
    assert.equal(unknown.code, 1)
    assert.match(unknown.err, /The gateway has no error code NO_SUCH_CODE/)
  })
})
