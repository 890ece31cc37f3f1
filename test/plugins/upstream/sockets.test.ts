import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startSocketService } from '../responses-socket/kit.ts'

it('WebSockets show the keys of an upstream in their turn', async () => {
  const keys = ['sk-number-one-0123456789', 'sk-number-two-0123456789']
  await using service = await startSocketService({
    upstream: `api_keys: [${keys.join(', ')}], key_order: round_robin`,
  })
  for (const input of ['one', 'two']) {
    const client = await service.connect()
    client.create(input)
    assert.equal((await client.end()).type, 'response.completed')
  }
  assert.deepEqual(
    service.provider.handshakes.map(({ headers }) => headers.find((text) => text.startsWith('Bearer '))),
    keys.map((key) => `Bearer ${key}`),
  )
})
