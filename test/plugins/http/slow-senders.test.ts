import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import type { FastifyInstance } from 'fastify'
import type { Plugin } from 'guard-gateway/core'
import { parsed, type RawAnswer, untilClosed } from '../../kit/raw-http.ts'
import { type Service, startService } from '../../kit/service.ts'

const HEAD_MS = 150
const WHOLE_MS = 400
/** How often the server looks for connections that are late, and some room. */
const LOOKS_MS = 2_000
const SLACK_MS = 1_500

describe('senders that do not come to an end', () => {
  let service: Service
  let server: FastifyInstance['server']
  const faults: unknown[] = []
  const lowered: Plugin = {
    name: 'lowered',
    apply: (gateway) => {
      gateway.hooks.http.tap('lowered', (app) => {
        server = app.server
      })
      gateway.hooks.fault.tap('lowered', (error) => void faults.push(error))
    },
  }
  before(async () => {
    service = await startService({ plugins: [lowered] })
  })
  after(() => service[Symbol.asyncDispose]())

  const port = (): number => Number(new URL(service.gateway.url).port)
  const head = (path: string, length: number): string =>
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${service.gateway.key}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`

  /** Writes the first text, then one character at a time, and reads until the connection is ended. */
  const slowly = async (first: string, rest = ''): Promise<{ readonly answer: RawAnswer; readonly ms: number }> => {
    const start = performance.now()
    const socket = connect(port(), '127.0.0.1')
    if (first !== '') socket.write(first)
    let at = 0
    const timer = setInterval(() => {
      if (at < rest.length && socket.writable) socket.write(rest.charAt(at++))
    }, 20)
    const bytes = await untilClosed(socket)
    clearInterval(timer)
    return { answer: parsed(bytes), ms: performance.now() - start }
  }
  const isTimedOut = ({ answer, ms }: Awaited<ReturnType<typeof slowly>>, least_ms: number): void => {
    assert.deepEqual([answer.status, answer.headers.connection], [408, 'close'], answer.body)
    assert.equal(JSON.parse(answer.body).error.code, 'REQUEST_TIMEOUT')
    assert.match(answer.headers['x-guard-request-id'] ?? '', /^guardreq_/)
    assert.ok(ms >= least_ms && ms < least_ms + LOOKS_MS + SLACK_MS, `ended after ${ms} ms`)
  }

  it('have 10 s for the head and 60 s for the whole request; a quiet reply has no limit', () => {
    assert.deepEqual([server.headersTimeout, server.requestTimeout, server.timeout], [10_000, 60_000, 0])
  })

  it('are answered with 408 and cut off, recorded nowhere, while others are served', async () => {
    server.headersTimeout = HEAD_MS
    server.requestTimeout = WHOLE_MS
    const { promise, resolve } = Promise.withResolvers<void>()
    service.provider.script({ until: promise })
    const quiet = service.request('POST', '/v1/responses', { model: 'm-1', input: 'slow to answer' })
    const late = Promise.all([
      slowly(''),
      slowly('POST /v1/responses HTTP/1.1\r\nhost: loc'),
      slowly('GET /api/health HTTP/1.1\r\n', 'x-filler: '.padEnd(400, 'x')),
      slowly(head('/v1/responses', 400), '{"model":"m-1","input":"'.padEnd(400, 'x')),
      slowly(head('/api/v1/traces', 400), '{"trace_id":"half'.padEnd(400, 'x')),
    ])
    const health = await service.request('GET', '/api/health')
    assert.equal(health.status, 200)
    const [silent, half, trickled, model, ingest] = await late
    for (const one of [silent, half, trickled]) isTimedOut(one, HEAD_MS)
    for (const one of [model, ingest]) isTimedOut(one, WHOLE_MS)
    resolve()
    assert.equal((await quiet).status, 200, 'a reply that takes longer than a request may is not cut')
    const { storage } = service.gateway.gateway
    assert.equal((await storage.find('calls')).rows.length, 1)
    assert.equal((await storage.find('runs')).rows.length, 1)
    assert.equal(service.provider.requests.length, 1)
    assert.deepEqual(faults, [])
  })
})
