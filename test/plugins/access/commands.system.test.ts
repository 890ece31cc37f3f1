import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { main } from '../../../presets/default/main.ts'
import { startChildGateway } from '../../kit/child-gateway.ts'
import { fakeIo } from '../../kit/io.ts'

const SERVER = 'server: { host: 0.0.0.0, allow_remote: true }'

describe('commands about keys', () => {
  let cwd = ''
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'guard-keys-'))
  })
  afterEach(() => rm(cwd, { recursive: true, force: true }))

  const guardWith = async (env: Record<string, string>, ...argv: readonly string[]) => {
    const io = fakeIo({ cwd, env: { CI: '1', ...env } })
    const code = await main(argv, io)
    return { code, out: io.outText(), err: io.errText() }
  }
  const guard = (...argv: readonly string[]) => guardWith({}, ...argv)
  const configure = () =>
    writeFile(join(cwd, 'guard-config.yml'), `gateway_key: guard_0123456789abcdef\nstorage: { file: guard.db }\n`)

  it('make, list and revoke keys before a gateway runs', async () => {
    await configure()
    const made = await guard(
      'key',
      'create',
      '--name',
      'Ada',
      '--scope',
      'read,operate',
      '--project',
      'shop',
      '--expires',
      '30d',
    )
    assert.equal(made.code, 0, made.err)
    assert.match(made.out, /^gak_[\w-]{43}\n$/)
    assert.match(made.err, /Key akey_\w+ for read, operate; it is shown this once/)
    const list = await guard('key', 'list')
    assert.match(list.out, /akey_\w+ +Ada +gak_\S{4}… +read,operate +shop/)
    assert.ok(!list.out.includes(made.out.trim()))
    const [{ id }] = (JSON.parse((await guard('key', 'list', '--json')).out) as { keys: [{ id: string }] }).keys
    assert.match((await guard('key', 'revoke', id)).out, /revoked/)
    assert.match((await guard('key', 'list')).err, /There is no key with scopes/)
    assert.match((await guard('key', 'revoke', id)).err, /ACCESS_KEY_NOT_FOUND/)
    const audit = await guard('audit', '--since', '7d')
    assert.match(audit.out, /loopback +key\.revoked/)
    assert.match(audit.out, /loopback +key\.created/)
    assert.equal(JSON.parse((await guard('audit', '--json', '--action', 'key.created')).out).entries.length, 1)
  })
  it('say what is missing or wrong', async () => {
    await configure()
    assert.match((await guard('key', 'create', '--scope', 'read')).err, /--name/)
    assert.match((await guard('key', 'create', '--name', 'x')).err, /--scope/)
    assert.match((await guard('key', 'create', '--name', 'x', '--scope', 'everything')).err, /scopes/)
    assert.match((await guard('audit', '--since', 'soon')).err, /INVALID_FILTER/)
  })
  it('make the first key beside a gateway beyond loopback, which takes it at once', async () => {
    const gateway = await startChildGateway(cwd, 'http://127.0.0.1:9', SERVER)
    try {
      const url = gateway.url.replace('0.0.0.0', '127.0.0.1')
      const status = async (key: string) =>
        (await fetch(`${url}/api/sessions`, { headers: { authorization: `Bearer ${key}` } })).status
      const { code, out, err } = await guard('key', 'create', '--name', 'Ada', '--scope', 'admin')
      assert.equal(code, 0, err)
      const key = out.trim()
      assert.equal(await status(key), 200)
      const GUARD_ACCESS_KEY = key
      assert.match((await guard('sessions', 'list')).err, /KEY_REQUIRED/)
      assert.match(gateway.said(), /Nobody can administer it yet: .* key create --name you --scope admin/)
      assert.equal((await guardWith({ GUARD_ACCESS_KEY }, 'sessions', 'list')).code, 0)
      const other = (
        await guardWith({ GUARD_ACCESS_KEY }, 'key', 'create', '--name', 'bot', '--scope', 'read')
      ).out.trim()
      assert.equal(await status(other), 200)
      assert.match((await guardWith({ GUARD_ACCESS_KEY: other }, 'key', 'list')).err, /SCOPE_REQUIRED/)
      const list = JSON.parse((await guardWith({ GUARD_ACCESS_KEY }, 'key', 'list', '--json')).out)
      assert.deepEqual(
        (list.keys as readonly { name: string; created_by: string }[]).map(({ name, created_by }) => [
          name,
          created_by,
        ]),
        [
          ['bot', 'Ada'],
          ['Ada', 'loopback'],
        ],
      )
    } finally {
      await gateway.end('SIGTERM')
    }
  })
})
