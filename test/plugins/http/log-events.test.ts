import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Plugin } from 'guard-gateway/core'
import { ask, chatBody, PROVIDER_KEY, start } from './kit.ts'

describe('the log', () => {
  it('has one line an event, with fields of a fixed list and nothing of what was sent', async () => {
    const running = await start()
    await ask(running.port, {
      path: '/v1/chat/completions?private=1',
      headers: { 'x-private': 'secret-header' },
      body: { ...chatBody, user: 'private-body' },
    })
    await ask(running.port, { path: '/v1/chat/completions', body: 'private-body' })
    await ask(running.port, { method: 'GET', path: '/api/health?private=1', key: null })
    running.gateway.fault(new Error(`upstream said ${PROVIDER_KEY}`), 'somewhere')
    await running[Symbol.asyncDispose]()
    const lines = running.log.map((line) => JSON.parse(line) as Record<string, unknown>)
    const [call, refused, fault] = [
      lines.find(({ route }) => route === '/v1/chat/completions'),
      lines.find(({ code }) => code === 'INVALID_BODY'),
      lines.find(({ level }) => level === 'error'),
    ]
    assert.deepEqual([call?.status, call?.decision, call?.outcome, call?.upstream], [200, 'allow', 'ok', 'main'])
    assert.equal(refused?.status, 400)
    assert.deepEqual([fault?.fault, fault?.code], ['somewhere', 'INTERNAL'])
    assert.ok(lines.some(({ route, status }) => route === '/api/health' && status === 200))
    assert.doesNotMatch(running.log.join('\n'), /private|secret-header|provider-key|gateway-key/)
    const known =
      'bytes_in bytes_out code decision duration_ms fault level message method outcome reason request_id route stack status time upstream'.split(
        ' ',
      )
    for (const line of lines) for (const name of Object.keys(line)) assert.ok(known.includes(name), name)
  })
  it('tells by the id of a request why it failed, and where in the code', async () => {
    const mine: Plugin = {
      name: 'mine',
      apply: ({ hooks }) => {
        const fail = (): never => {
          throw new TypeError(`not with ${PROVIDER_KEY}`)
        }
        hooks.http.tap('mine', (app) => void app.get('/api/mine', fail))
        hooks.request.tap('mine', fail)
      },
    }
    const running = await start({ plugins: [mine] })
    const ids = [
      await ask(running.port, { method: 'GET', path: '/api/mine', key: null }),
      await ask(running.port, { path: '/v1/chat/completions', body: chatBody }),
    ].map(({ headers }) => headers['x-guard-request-id'])
    await running[Symbol.asyncDispose]()
    const lines = running.log.map((line) => JSON.parse(line))
    for (const id of ids) {
      const told = lines.find(({ request_id }) => request_id === id)
      assert.equal(told.status, 500)
      assert.match(told.message, /^TypeError: not with \[REDACTED:\w+\]$/)
    }
    const faults = lines.filter(({ level }) => level === 'error')
    assert.deepEqual(
      faults.map(({ fault }) => fault),
      ['http', 'request:mine'],
    )
    for (const { stack } of faults) assert.match(stack[0], /fail \(.*log-events\.test\.ts:\d+:\d+\)$/)
  })
  it('tells of an answer whose client leaves before its end, too', async () => {
    const endless: Plugin = {
      name: 'endless',
      apply: ({ hooks }) => {
        const body = new Readable({ read() {} })
        body.push('begun')
        hooks.http.tap('endless', (app) => void app.get('/api/endless', (_request, reply) => reply.send(body)))
      },
    }
    const running = await start({ plugins: [endless] })
    const leaving = new AbortController()
    await fetch(`http://127.0.0.1:${running.port}/api/endless`, { signal: leaving.signal })
    leaving.abort()
    for (let turn = 0; turn < 100 && running.log.length === 0; turn++) await setTimeout(10)
    await running[Symbol.asyncDispose]()
    const [told] = running.log.map((line) => JSON.parse(line))
    assert.deepEqual([told.route, told.status], ['/api/endless', 200])
  })
  it('tells how long an answer took, how large it is, and why it refuses', async () => {
    const slowly: Plugin = {
      name: 'slowly',
      apply: ({ hooks }) => {
        hooks.http.tap('slowly', (app) => void app.get('/api/slowly', () => setTimeout(30, 'at last')))
      },
    }
    const running = await start({ plugins: [slowly] })
    await ask(running.port, { method: 'GET', path: '/api/slowly', key: null })
    await ask(running.port, {
      method: 'GET',
      path: '/api/slowly',
      key: null,
      headers: { origin: 'http://elsewhere.test' },
    })
    await running[Symbol.asyncDispose]()
    const [served, refused] = running.log.map((line) => JSON.parse(line)).filter(({ route }) => route === '/api/slowly')
    assert.deepEqual([served.bytes_out, served.duration_ms >= 29, served.code], [7, true, undefined])
    assert.deepEqual([refused.status, refused.code], [403, 'ORIGIN_NOT_ALLOWED'])
  })
})
