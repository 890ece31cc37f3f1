import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { ask, chatBody, jsonOf, start } from '../http/kit.ts'
import { anUpstream } from './kit.ts'
import { certificate, privateKey } from './localhost-certificate.ts'

describe('an upstream behind TLS', () => {
  let connections = 0
  const server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
    request.resume().on('end', () => response.end('{"id":"over-tls"}'))
  }).on('secureConnection', () => {
    connections++
  })
  const url = (): string => `https://localhost:${(server.address() as AddressInfo).port}`
  before(async () => {
    server.listen(0, 'localhost')
    await once(server, 'listening')
  })
  after(() => server.closeAllConnections())
  after(() => server.close())

  it('with a certificate that nobody vouches for is 502, and no request is sent', async () => {
    await using running = await start({ upstreams: () => [anUpstream('secure', url())] })
    const got = await ask(running.port, { body: chatBody })
    assert.deepEqual([got.status, jsonOf(got).error.code], [502, 'UPSTREAM_UNREACHABLE'])
    assert.equal(running.settled[0]?.attempts[0]?.error, 'DEPTH_ZERO_SELF_SIGNED_CERT')
  })
  it('with a trusted certificate is served, over one kept connection', async () => {
    const trusted = getCACertificates('default')
    setDefaultCACertificates([...trusted, certificate])
    try {
      await using running = await start({ upstreams: () => [anUpstream('secure', url())] })
      const before = connections
      for (let turn = 0; turn < 3; turn++)
        assert.equal(jsonOf(await ask(running.port, { body: chatBody })).id, 'over-tls')
      assert.equal(connections - before, 1)
    } finally {
      setDefaultCACertificates(trusted)
    }
  })
})
