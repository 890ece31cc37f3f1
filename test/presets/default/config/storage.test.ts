import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createGateway } from 'guard-gateway/presets/default'
import { withOverrides } from '../../../../presets/default/config/overrides.ts'
import { parseConfig } from '../../../../presets/default/config.ts'

const url = 'postgres://ann:s3cret-w%40rd@db.example/guard?sslmode=require'
const parse = async (storage: string, env = {}) =>
  (await parseConfig(`gateway_key: guard_0123456789abcdef\nstorage: ${storage}\n`, '/w/guard-config.yml', env)).config
const refusal = async (storage: string): Promise<string> =>
  parse(storage).then(
    () => assert.fail(`${storage} was accepted`),
    (error: Error) => error.message,
  )

describe('the storage section', () => {
  it('takes the address of a database from the environment', async () => {
    const { storage } = await parse(`{ backend: postgres, url: "\${DATABASE_URL}" }`, { DATABASE_URL: url })
    assert.deepEqual([storage.url, storage.pool], [url, 10])
    assert.equal((await parse('{ backend: postgres, url: x, pool: 25 }')).storage.pool, 25)
  })
  it('refuses the keys of another backend than the chosen one, with its place and what to do', async () => {
    assert.equal(
      await refusal(`{ backend: postgres, url: "${url}", file: guard.db }`),
      `guard-config.yml:2:${`storage: { backend: postgres, url: "${url}", `.length + 1}: storage.file: is of the backend sqlite, and storage.backend is postgres; remove it; storage.url names the database`,
    )
    assert.match(
      await refusal(`{ url: "${url}" }`),
      /storage\.url: is of the backend postgres, and storage\.backend is sqlite/,
    )
    assert.match(await refusal('{ file: a.db, pool: 20 }'), /storage\.pool: is of the backend postgres/)
    assert.match(
      await refusal(`{ backend: postgres, url: "${url}", synchronous: full }`),
      /storage\.synchronous: is of the backend sqlite/,
    )
    assert.match(await refusal('{ backend: postgres }'), /storage\.url: is missing, and storage\.backend is postgres/)
    assert.match(await refusal('{ backend: postgres, url: x, pool: 1 }'), /storage\.pool: expected at least 3/)
    for (const storage of [`{ url: "${url}" }`, `{ backend: postgres, url: "${url}", file: guard.db }`])
      assert.doesNotMatch(await refusal(storage), /s3cret/)
  })
  it('leaves the keys of a backend of one’s own alone', async () => {
    assert.equal((await parse(`{ backend: mine, url: "${url}", file: x }`)).storage.url, url)
  })
  it('hides the password of the address everywhere, and no word that is its user or database', async () => {
    const { secrets } = await createGateway(await parse(`{ backend: postgres, url: "${url}" }`))
    for (const text of ['s3cret-w@rd', 's3cret-w%40rd', url]) assert.ok(secrets.holds(`at ${text} and`), text)
    const plain = await createGateway(
      await parse('{ backend: postgres, url: "postgres://postgres:postgres@db/x?sslmode=require" }'),
    )
    assert.equal(plain.secrets.holds('a word about postgres'), false)
  })
  it('refuses --data beside postgres', async () => {
    const config = await parse(`{ backend: postgres, url: "${url}" }`)
    assert.throws(() => withOverrides(config, { data: 'x.db' }, '/w'), {
      code: 'USAGE',
      message: /--data names a database file/,
    })
  })
})
