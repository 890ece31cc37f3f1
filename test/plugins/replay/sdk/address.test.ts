import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { createGuard } from 'guard-gateway/sdk'
import { guarded } from '../../../kit/sdk.ts'
import { tlsFront } from '../../../kit/tls-front.ts'

/** What a guard with this address says about one trace. */
const said = async (test: TestContext, baseUrl: string): Promise<readonly string[]> => {
  const errors: string[] = []
  const guard = createGuard({
    baseUrl,
    handleExit: false,
    ingestTimeoutMs: 1_000,
    onError: (error) => errors.push(error.message),
  })
  test.after(() => guard.close())
  assert.equal(await guard.trace('job', () => 'value'), 'value')
  await guard.close()
  return errors
}

describe('baseUrl', () => {
  for (const path of ['/v1', '/v1/', '/v1/chat/completions', '/v1beta'])
    it(`of a client of models is corrected: ${path}`, async (test) => {
      const { server } = await guarded(test)
      assert.deepEqual(await said(test, `${server.url}${path}`), [
        `baseUrl "${server.url}${path}" is an address for clients of models; the gateway is ${server.url}, which is used now.`,
      ])
      assert.deepEqual(
        server.requests.map((request) => request.path),
        ['/api/v1/traces'],
      )
    })

  it('below which the gateway is mounted stays', async (test) => {
    const { server } = await guarded(test)
    assert.deepEqual(await said(test, `${server.url}/gateway/v1`), [
      `baseUrl "${server.url}/gateway/v1" is an address for clients of models; the gateway is ${server.url}/gateway, which is used now.`,
    ])
    assert.equal(server.requests[0]?.path, '/gateway/api/v1/traces')
  })

  const providers = [
    ...['https://api.openai.com/v1', 'https://api.anthropic.com', 'https://x.openai.azure.com/'],
    'https://bedrock-runtime.eu-west-1.amazonaws.com',
  ]
  for (const provider of providers)
    it(`of a provider records nothing: ${provider}`, async (test) => {
      assert.deepEqual(await said(test, provider), [
        `baseUrl "${provider}" is the address of a provider, so nothing is recorded. Give the address of the gateway, such as http://127.0.0.1:8787.`,
      ])
    })

  it('where another server answers is told in one sentence', async (test) => {
    const { server } = await guarded(test)
    server.always({ status: 404, json: 'Not here' })
    assert.deepEqual(await said(test, server.url), [
      `1 record was not stored. There is no gateway at ${server.url}: the answer is 404. Correct baseUrl, the address of the gateway.`,
    ])
    assert.match(
      (await said(test, `${server.url}/app`))[0] ?? '',
      /no gateway at \S+\/app, if it is not http:\/\/[\d.:]+: /,
    )
  })

  it('where nobody listens is told in one sentence', async (test) => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    server.close()
    await once(server, 'close')
    assert.deepEqual(await said(test, `http://127.0.0.1:${port}`), [
      `1 record was not stored. Nobody answers at http://127.0.0.1:${port}. Start the gateway, or name its address.`,
    ])
  })

  it('with https where http is spoken is told in one sentence', async (test) => {
    const { server } = await guarded(test)
    const address = server.url.replace('http:', 'https:')
    assert.deepEqual(await said(test, address), [
      `1 record was not stored. ${address} does not speak https. Is it ${server.url}?`,
    ])
  })

  it('with http where https is spoken, or whose certificate nobody vouches for, is told in one sentence', async (test) => {
    const { server } = await guarded(test)
    await using front = await tlsFront(Number(new URL(server.url).port))
    const [plain, ...more] = await said(test, `http://localhost:${front.port}`)
    assert.match(
      plain ?? '',
      new RegExp(
        `^It is not known whether 1 record was stored\\. The gateway at http://localhost:${front.port} broke off: .*Does it speak https\\?$`,
      ),
    )
    assert.deepEqual(more, [])
    assert.deepEqual(await said(test, `https://localhost:${front.port}`), [
      `1 record was not stored. The certificate of https://localhost:${front.port} is not trusted. NODE_EXTRA_CA_CERTS names a file of further authorities.`,
    ])
  })
})
