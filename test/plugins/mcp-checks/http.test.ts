import assert from 'node:assert/strict'
import dns from 'node:dns/promises'
import { describe, it, mock } from 'node:test'
import { httpHosts } from 'guard-gateway/plugins/mcp-checks/http'
import { loaded, mcpCheckConforms } from '../../conformance/mcp-check.ts'
import { attacks, ordinary, privateHosts, publicHosts } from './http/rows.ts'
import { linesOf } from './lines.ts'

const options = {
  args: ['/url'],
  hosts: ['api.example.com', '*.docs.example.com', 'Bücher.de', '93.184.216.34', '2606:4700::1111', 'example.org'],
}

mcpCheckConforms(httpHosts, {
  options,
  passes: { url: 'https://api.example.com/x' },
  fails: { url: 'https://evil.com/' },
})

const reasons = async (changes: object, url: unknown): Promise<string[]> => {
  const find = await loaded(httpHosts, { ...options, ...changes })
  return (await find({ url })).map(({ reason }) => reason)
}

describe('HTTP hosts', () => {
  for (const url of [...ordinary, ...linesOf('http/ordinary.txt')]) {
    it(`passes ${JSON.stringify(url)}`, async () => assert.deepEqual(await reasons({}, url), []))
  }
  for (const url of [...attacks, ...linesOf('http/attacks.txt')]) {
    it(`refuses ${JSON.stringify(url)}`, async () => assert.equal((await reasons({}, url)).length, 1))
  }
  for (const host of [...privateHosts, ...linesOf('http/private-hosts.txt')]) {
    it(`refuses ${host} where every host is allowed`, async () => {
      assert.equal((await reasons({ hosts: ['*'] }, `https://${host}/`)).length, 1)
    })
  }
  for (const host of [...publicHosts, ...linesOf('http/public-hosts.txt')]) {
    it(`passes ${host} where every host is allowed`, async () => {
      assert.deepEqual(await reasons({ hosts: ['*'] }, `https://${host}/`), [])
    })
  }
})

describe('the options of an HTTP check', () => {
  it('refuse a private host even when it is listed, unless they allow private ones', async () => {
    for (const host of ['localhost', '127.0.0.1', '[::1]', 'db.internal']) {
      const url = `https://${host}/`
      assert.deepEqual(await reasons({ hosts: [host] }, url), [`goes to the private address "${host}"`])
      assert.deepEqual(await reasons({ hosts: [host], private_addresses: 'allow' }, url), [])
    }
    assert.deepEqual(await reasons({ hosts: ['db'] }, 'https://db/'), [])
  })
  it('name schemes and ports', async () => {
    const schemes = ['http', 'https']
    assert.deepEqual(await reasons({ schemes }, 'http://api.example.com/'), [])
    assert.deepEqual(await reasons({ schemes }, 'http://api.example.com:80/'), [])
    assert.deepEqual(await reasons({ schemes }, 'http://api.example.com:443/'), [
      'goes to port 443, which is not allowed',
    ])
    const ports = [443, 8443]
    assert.deepEqual(await reasons({ ports }, 'https://api.example.com:8443/'), [])
    assert.deepEqual(await reasons({ ports }, 'https://api.example.com/'), [])
    assert.equal((await reasons({ ports: [8443] }, 'https://api.example.com/')).length, 1)
  })
  it('ask for strings, and for a missing one unless it is optional', async () => {
    assert.deepEqual(await reasons({}, 1), ['must be a string'])
    assert.deepEqual(await reasons({}, undefined), ['is missing'])
    assert.deepEqual(await reasons({ optional: true }, undefined), [])
  })
  it('refuse a host that is longer than a name can be, however long', async () => {
    const long = (labels: number) => reasons({}, `https://${'a.'.repeat(labels)}docs.example.com/`)
    assert.deepEqual(await long(118), [])
    assert.deepEqual(await long(124), ['has a host that is longer than a name can be'])
    assert.deepEqual(await long(4_000_000), ['has a host that is longer than a name can be'])
  })
  it('refuse entries that are no hosts', async () => {
    for (const host of [
      'https://a.com',
      'a.com/x',
      'a.com:443',
      'a*.com',
      '*',
      '*.',
      'a b',
      'u@a.com',
      '*.*.com',
      'a.com.',
    ]) {
      const compiling = async () => httpHosts.compile?.({ ...options, hosts: [host] })
      if (host === '*') assert.deepEqual((await compiling())?.hosts, ['*'])
      else await assert.rejects(compiling, { code: 'INVALID_POLICY' }, host)
    }
  })
  it('judge every address that a name resolves to', async () => {
    const answers = mock.method(dns, 'lookup', async (host: string) => {
      if (host === 'api.example.com') return [{ address: '93.184.216.34' }, { address: '2606:4700::1' }]
      if (host === 'rebound.docs.example.com') return [{ address: '93.184.216.34' }, { address: '127.0.0.1' }]
      if (host === 'none.docs.example.com') return []
      throw new Error('ENOTFOUND')
    })
    try {
      const resolve = { resolve_dns: true }
      assert.deepEqual(await reasons(resolve, 'https://api.example.com/'), [])
      assert.match(String(await reasons(resolve, 'https://rebound.docs.example.com/')), /a private address$/)
      assert.match(String(await reasons(resolve, 'https://none.docs.example.com/')), /a private address$/)
      const find = await loaded(httpHosts, { ...options, ...resolve })
      assert.deepEqual(await find({ url: 'https://lost.docs.example.com/' }), [
        { pointer: '/url', reason: 'goes to "lost.docs.example.com", which does not resolve', certain: false },
      ])
      assert.deepEqual(await reasons(resolve, 'https://[2606:4700::1111]/'), [])
      const asked = answers.mock.callCount()
      const inner = { ...resolve, private_addresses: 'allow' }
      assert.deepEqual(await reasons(inner, 'https://rebound.docs.example.com/'), [])
      assert.equal((await reasons(resolve, 'https://evil.com/')).length, 1)
      assert.equal(answers.mock.callCount(), asked, 'a host that is refused anyway is not asked for')
    } finally {
      answers.mock.restore()
    }
  })
})
