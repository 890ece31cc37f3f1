import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { isLoopback } from '../../../../plugins/http/admission/hosts.ts'
import { checkPort } from '../../../../plugins/http/connections/port.ts'

/** A server that answers every request with this body, and its port. */
const holding = async (body: string) => {
  const server = createServer((_request, response) => response.end(body)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, [Symbol.asyncDispose]: async () => void server.close() }
}

describe('the port', () => {
  it('may be free, or left to the system', async () => {
    const { port } = await holding('').then(async (held) => {
      await held[Symbol.asyncDispose]()
      return held
    })
    await checkPort('127.0.0.1', port)
    await checkPort('127.0.0.1', 0)
  })
  it('may be taken by a gateway, whose version is told', async () => {
    await using held = await holding('{"version":"9.8.7"}')
    await assert.rejects(checkPort('127.0.0.1', held.port), {
      code: 'PORT_TAKEN',
      message: `127.0.0.1:${held.port} is taken: a Guard Gateway 9.8.7 is running there already. Use that one, or start a second one with --port and --data.`,
    })
  })
  it('may be taken by another program', async () => {
    for (const body of ['<html>', '{"version":1}', 'null']) {
      await using held = await holding(body)
      await assert.rejects(checkPort('127.0.0.1', held.port), {
        code: 'PORT_TAKEN',
        message: `127.0.0.1:${held.port} is taken: another program uses it. Stop it, or choose another port with --port.`,
      })
    }
  })
  it('may be one of an address that is not here', async () => {
    await assert.rejects(checkPort('192.0.2.1', 1), {
      code: 'INVALID_CONFIG',
      message: /cannot listen on 192\.0\.2\.1:1: E/,
    })
  })
})

describe('loopback', () => {
  it('is this machine only', () => {
    for (const host of ['127.0.0.1', '127.9.9.9', 'localhost', 'LOCALHOST', '::1', '[::1]', '0:0:0:0:0:0:0:1'])
      assert.ok(isLoopback(host), host)
    for (const host of [
      '0.0.0.0',
      '::',
      '10.0.0.1',
      'example.com',
      'localhost.example.com',
      '127.0.0.1.example.com',
      '',
    ])
      assert.ok(!isLoopback(host), host)
  })
})
