import assert from 'node:assert/strict'
import { mkdtempDisposable, readdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { type LoginTokens, seal, unseal } from '../../../../plugins/mcp/login/sealed-tokens.ts'
import { parseKey, sealingKey } from '../../../../plugins/mcp/login/sealing-key.ts'

const tokens: LoginTokens = {
  server_id: 'docs',
  agent_id: '',
  target: 'https://x.example/mcp',
  access_token: 'the-access-token',
  refresh_token: 'the-refresh-token',
  resource: 'https://x.example/mcp',
  client: { client_id: 'guard', auth_method: 'none' },
  server: { issuer: 'https://a.example', token_endpoint: 'https://a.example/token' },
}

describe('tokens that are kept', () => {
  const key = Buffer.alloc(32, 1)

  it('are read with their key and in their own row alone, and only as they were written', async () => {
    const sealed = await seal(tokens, key)
    assert.match(sealed, /^[\w-]+\.\.[\w-]{16}\.[\w-]+\.[\w-]{22}$/)
    assert.deepEqual(await unseal(sealed, key, tokens), tokens)
    assert.notEqual(await seal(tokens, key), sealed, 'no two are alike')
    assert.equal(await unseal(sealed, Buffer.alloc(32, 2), tokens), undefined)
    assert.equal(await unseal(sealed, key, { ...tokens, server_id: 'other' }), undefined)
    assert.equal(await unseal(sealed, key, { ...tokens, agent_id: 'ada' }), undefined)
    const changed = sealed.replace(/[\w-](?=[\w-]*\.[\w-]+$)/, (first) => (first === 'A' ? 'B' : 'A'))
    assert.equal(await unseal(changed, key, tokens), undefined)
    for (const other of ['', 'x.y', `${Buffer.from('{"alg":"none"}').toString('base64url')}....`])
      assert.equal(await unseal(other, key, tokens), undefined)
  })
})

describe('the key that tokens are kept with', () => {
  it('is made once in a file of its own, and read from there afterwards', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'guard-key-'))
    const file = join(folder.path, 'guard.db.login-key')
    const made = sealingKey('', file)
    assert.equal(made.length, 32)
    assert.deepEqual(sealingKey('', file), made)
    assert.deepEqual(await readdir(folder.path), ['guard.db.login-key'])
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    await writeFile(file, '')
    assert.throws(() => sealingKey('', file), /is none: it is 32 bytes in base64 or hex/)
    assert.throws(() => sealingKey('', join(folder.path, 'no', 'folder')), /cannot be kept in .*no such file/)
  })

  it('is the configured one, in any of its forms, and else one that ends with the process', () => {
    const bytes = Buffer.alloc(32, 251)
    for (const encoding of ['base64', 'base64url', 'hex'] as const)
      assert.deepEqual(Buffer.from(sealingKey(bytes.toString(encoding), '/nowhere')), bytes)
    for (const text of ['', 'short', 'x'.repeat(44), bytes.subarray(1).toString('hex')])
      assert.equal(parseKey(text), undefined, text)
    assert.notDeepEqual(sealingKey('', undefined), sealingKey('', undefined))
  })
})
