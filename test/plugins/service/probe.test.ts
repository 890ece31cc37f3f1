import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { healthAt, isReady } from '../../../plugins/service/actions.ts'
import { refusingPort } from '../../kit/refusing-port.ts'

describe('what is asked of a gateway', () => {
  const answers = new Map<string, readonly [status: number, body: string]>()
  const server = createServer(({ url = '' }, response) => {
    const [status, body] = answers.get(url) ?? [404, '']
    response.writeHead(status).end(body)
  })
  let address: string
  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => server.close())

  it('is whether it takes requests, which 200 alone says', async () => {
    for (const [status, ready] of [
      [200, true],
      [204, false],
      [503, false],
    ] as const) {
      answers.set('/readyz', [status, status === 204 ? '' : '{"status":"draining"}'])
      assert.equal(await isReady(address), ready, String(status))
    }
  })
  it('is its health, in its own word, whatever the status', async () => {
    for (const [body, health] of [
      ['{"status":"degraded"}', 'degraded'],
      ['{"status":5}', undefined],
      ['["status"]', undefined],
      ['no JSON', undefined],
    ] as const) {
      answers.set('/api/health', [503, body])
      assert.equal(await healthAt(address), health, body)
    }
  })
  it('is nothing where nobody answers', async () => {
    await using refusing = await refusingPort()
    const nobody = `http://127.0.0.1:${refusing.port}`
    assert.deepEqual([await isReady(nobody), await healthAt(nobody)], [false, undefined])
  })
})
