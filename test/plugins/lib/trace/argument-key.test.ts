import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Gateway, table } from 'guard-gateway/core'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { foundation } from 'guard-gateway/presets/foundation'
import { argumentKey } from '#lib/trace'

it('the key for argument hashes is made once an installation, for everybody who asks', async () => {
  const gateway = new Gateway().use(...foundation(), memory())
  gateway.tables.add(table<'installation'>({ id: 'installation', columns: { id: 'text', value: 'text' } }))
  await gateway.open()
  const [first, second] = await Promise.all([argumentKey(gateway.storage), argumentKey(gateway.storage)])
  assert.match(first, /^[0-9a-f]{64}$/)
  assert.deepEqual([second, await argumentKey(gateway.storage)], [first, first])
  await gateway.close()
})
