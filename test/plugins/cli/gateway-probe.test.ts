import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttp } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe, it, type TestContext } from 'node:test'
import { Gateway, type GuardError } from 'guard-gateway/core'
import { asking, requireGateway } from 'guard-gateway/plugins/cli'
import { foundation } from 'guard-gateway/presets/foundation'
import { findGateway } from '../../../plugins/cli/gateway-probe.ts'
import { type Started, startGateway } from '../../kit/gateway.ts'
import { refusingPort } from '../../kit/refusing-port.ts'

/** Puts a server on a port of the system's choice, for one test; gives its address. */
const listening = async (context: TestContext, server: Server): Promise<string> => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('the gateway that a command is meant for', () => {
  let gateway: Started
  before(async () => {
    gateway = await startGateway()
  })
  after(() => gateway.close())
  const place = (address: string, gateway_key = gateway.key) => ({
    address,
    gateway_key,
    config: '/w/guard-config.yml',
  })
  const refused = (code: string, text: RegExp) => (error: GuardError) => {
    assert.equal(error.code, code)
    assert.match(error.message, text)
    assert.ok(!error.message.includes('\n'))
    return true
  }

  it('is reached with its key, and leaves no trace of that', async () => {
    assert.equal(await requireGateway(place(gateway.url)), gateway.url)
    assert.equal(await findGateway(place(gateway.url)), gateway.url)
    const { json } = await gateway.request('GET', '/api/v1/runs')
    assert.deepEqual((json as { runs: unknown[] }).runs, [])
  })
  it('is another one where the key is refused; without a key none is shown', async () => {
    const wrong = place(gateway.url, 'guard_another_key_0123456789')
    const told = refused(
      'UNAUTHORIZED',
      /does not accept the gateway_key of \/w\/guard-config\.yml\. Restart it .*--config/,
    )
    await assert.rejects(requireGateway(wrong), told)
    await assert.rejects(findGateway(wrong), told)
    assert.equal(await requireGateway(place(gateway.url, '')), gateway.url)
  })
  it('is not another program on its port, whether that speaks HTTP or not', async (context) => {
    const web = await listening(
      context,
      createHttp((_request, response) => response.end('<h1>It works!</h1>')),
    )
    const mail = await listening(
      context,
      createServer((socket) => socket.end('220 mail.example ESMTP\r\n')),
    )
    for (const address of [web, mail]) {
      await assert.rejects(
        requireGateway(place(address)),
        refused(
          'GATEWAY_NOT_RUNNING',
          /^Another program answers at .*, no gateway\. Stop it, or choose another server\.port\.$/,
        ),
      )
      assert.equal(await findGateway(place(address)), undefined)
    }
  })
  it('is looked for elsewhere where nobody, or another one, answers at the address of the configuration', async (context) => {
    await using refusing = await refusingPort()
    const nobody = `http://127.0.0.1:${refusing.port}`
    const otherGatewayError = await listening(
      context,
      createHttp(({ url }, response) => response.writeHead(url === '/api/health' ? 200 : 401).end('{"plugins":[]}')),
    )
    for (const address of [nobody, otherGatewayError])
      assert.equal(await requireGateway({ ...place(address), elsewhere: async () => gateway.url }), gateway.url)
    const gone = async () => nobody
    await assert.rejects(
      requireGateway({ ...place(nobody), elsewhere: gone }),
      refused('GATEWAY_NOT_RUNNING', /^No gateway/),
    )
    await assert.rejects(
      findGateway({ ...place(otherGatewayError), elsewhere: gone }),
      refused('UNAUTHORIZED', /does not accept/),
    )
  })
  it('is asked after this process trusts its certificate', async () => {
    let isTrusted = false
    const trust = async () => {
      await new Promise(setImmediate)
      isTrusted = true
    }
    const elsewhere = async () => {
      assert.ok(isTrusted)
      return gateway.url
    }
    await using refusing = await refusingPort()
    const nowhere = `http://127.0.0.1:${refusing.port}`
    assert.equal(await requireGateway({ ...place(nowhere), trust, elsewhere }), gateway.url)
    assert.ok(isTrusted)
  })
  it('may not run', async () => {
    await using refusing = await refusingPort()
    const nowhere = place(`http://127.0.0.1:${refusing.port}`)
    assert.equal(await findGateway(nowhere), undefined)
    const told = /^No gateway answers at http:\/\/127\.0\.0\.1:\d+\. Start it with "guard gateway run", or pray\.$/
    await assert.rejects(requireGateway(nowhere, ', or pray'), refused('GATEWAY_NOT_RUNNING', told))
  })
  it('may go away while it is asked, before its answer or within', async (context) => {
    const address = await listening(
      context,
      createHttp((request, response) => {
        if (request.url === '/api/health') return response.end('{"plugins":[]}')
        if (request.url === '/at-once') return request.socket.destroy()
        response.writeHead(200, { 'content-length': '100' })
        return response.write('{"runs":', () => request.socket.destroy())
      }),
    )
    const asked = (path: string) =>
      asking(new Gateway().use(...foundation()), { place: place(address, ''), durable: false }, async (ask) =>
        text(await ask('GET', path)),
      )
    const told = refused(
      'GATEWAY_NOT_RUNNING',
      /^The gateway at .* stopped answering\. Start it with "guard gateway run"/,
    )
    await assert.rejects(asked('/at-once'), told)
    await assert.rejects(asked('/within'), told)
  })
})
