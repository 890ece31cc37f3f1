import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import type { Plugin } from 'guard-gateway/core'
import { startGateway } from '../../kit/gateway.ts'

describe('a client that leaves', () => {
  it('between the end of its body and our reading of it is no fault of ours', async () => {
    const metadata = Promise.withResolvers<IncomingMessage>()
    const answered = Promise.withResolvers<number>()
    const faults: unknown[] = []
    const reading: Plugin = {
      name: 'reading',
      apply: (gateway) => {
        gateway.hooks.fault.tap('reading', (error) => void faults.push(error))
        gateway.hooks.http.tapPromise('reading', async (app) => {
          app.addContentTypeParser('text/plain', (_request, body, done) => done(null, body))
          app.addHook('onSend', async (_request, { statusCode }) => answered.resolve(statusCode))
          app.post('/api/read', async ({ raw }) => {
            metadata.resolve(raw)
            await once(raw, 'close').catch(() => {})
            for await (const _chunk of raw);
          })
        })
      },
    }
    const started = await startGateway({ plugins: [reading] })
    try {
      const socket = connect(Number(new URL(started.url).port), '127.0.0.1')
      socket.write(
        'POST /api/read HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\n{}',
      )
      const request = await metadata.promise
      socket.destroy()
      assert.equal(await answered.promise, 400)
      assert.equal(request.complete, true)
      assert.deepEqual(faults, [])
    } finally {
      await started.close()
    }
  })
})
