import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createGuard, type GuardIngestError } from 'guard-gateway/sdk'

it('close() before the last retry reports that the gateway is not running', async (test) => {
  test.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  const errors: GuardIngestError[] = []
  const guard = createGuard({
    handleExit: false,
    ingestTimeoutMs: 400,
    onError: (error) => errors.push(error as GuardIngestError),
    fetch: () => Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })),
  })
  await guard.trace('job', () => {})
  const closed = guard.close()
  // runs everything that needs no timer
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  test.mock.timers.tick(400)
  await closed
  assert.deepEqual(
    errors.map(({ code, message }) => [code, message]),
    [
      [
        'NETWORK_ERROR',
        '1 record was not stored. Nobody answers at http://127.0.0.1:8787. Start the gateway, or name its address.',
      ],
    ],
  )
})
