import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { directReason, isThisMachine, noProxy, proxyAddress, proxyChoice, proxyPassword } from '#lib/network'

const settings = { proxy: 'environment', no_proxy: [] }
const https = new URL('https://api.example/v1')
const http = new URL('http://api.example')

describe('the proxy of an address', () => {
  it('is named by variables, lower case before upper case, an empty one none', () => {
    for (const [url, env, proxy, from] of [
      [https, { HTTPS_PROXY: 'a' }, 'a', 'HTTPS_PROXY'],
      [https, { HTTPS_PROXY: 'a', https_proxy: 'b' }, 'b', 'https_proxy'],
      [https, { HTTPS_PROXY: 'a', https_proxy: '' }, 'a', 'HTTPS_PROXY'],
      [https, { HTTPS_PROXY: 'a', https_proxy: ' ' }, 'a', 'HTTPS_PROXY'],
      [https, { HTTP_PROXY: 'a' }, undefined, 'no proxy is set'],
      [http, { HTTP_PROXY: 'a', HTTPS_PROXY: 'b' }, 'a', 'HTTP_PROXY'],
      [http, { http_proxy: 'c', HTTP_PROXY: 'a' }, 'c', 'http_proxy'],
      [https, { ALL_PROXY: 'a' }, 'a', 'ALL_PROXY'],
      [http, { ALL_PROXY: 'a', all_proxy: 'b' }, 'b', 'all_proxy'],
      [https, { ALL_PROXY: 'a', HTTPS_PROXY: 'b' }, 'b', 'HTTPS_PROXY'],
      [https, {}, undefined, 'no proxy is set'],
      [https, { HTTPS_PROXY: 'a', NO_PROXY: 'api.example' }, undefined, 'NO_PROXY'],
      [https, { HTTPS_PROXY: 'a', NO_PROXY: '*', no_proxy: 'other' }, 'a', 'HTTPS_PROXY'],
    ] as const)
      assert.deepEqual(proxyChoice(url, undefined, settings, env), { proxy, from }, JSON.stringify(env))
  })
  it('is never asked for this machine', () => {
    const env = { HTTPS_PROXY: 'a', HTTP_PROXY: 'a' }
    for (const host of [
      '127.0.0.1',
      '127.8.9.1',
      'localhost',
      'LOCALHOST.',
      'a.localhost',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
    ]) {
      const choice = proxyChoice(new URL(`https://${host}:8443/`), undefined, settings, env)
      assert.deepEqual(choice, { proxy: undefined, from: 'this machine' }, host)
    }
    for (const host of ['127.example', 'localhost.example', '128.0.0.1', '::2']) assert.ok(!isThisMachine(host), host)
  })
  it('is the one of the configuration, and that of the address alone before it', () => {
    const env = { HTTPS_PROXY: 'a', NO_PROXY: 'inside.example' }
    const named = { proxy: 'b', no_proxy: ['direct.example'] }
    const chosen = (url: string, own: string | undefined, from = named) => proxyChoice(new URL(url), own, from, env)
    assert.deepEqual(chosen('https://x.example', undefined), { proxy: 'b', from: 'network.proxy' })
    assert.deepEqual(chosen('https://direct.example', undefined), { proxy: undefined, from: 'network.no_proxy' })
    assert.deepEqual(chosen('https://inside.example', undefined), { proxy: undefined, from: 'NO_PROXY' })
    assert.deepEqual(chosen('https://127.0.0.1', undefined), { proxy: undefined, from: 'this machine' })
    assert.deepEqual(chosen('https://x.example', undefined, { ...named, proxy: 'none' }), {
      proxy: undefined,
      from: 'network.proxy',
    })
    assert.deepEqual(chosen('https://x.example', 'none'), { proxy: undefined, from: 'proxy' })
    assert.deepEqual(chosen('https://127.0.0.1', 'c'), { proxy: 'c', from: 'proxy' })
    assert.deepEqual(chosen('https://x.example', 'environment'), { proxy: 'a', from: 'HTTPS_PROXY' })
  })
})

describe('NO_PROXY', () => {
  for (const [list, yes, no] of [
    ['*', ['a.example', '10.0.0.1'], []],
    ['a.example', ['a.example', 'A.Example', 'a.example.', 'x.a.example'], ['xa.example', 'example', 'a.example.org']],
    ['.a.example', ['a.example', 'x.a.example', 'y.x.a.example'], ['xa.example']],
    ['*.a.example', ['x.a.example', 'a.example'], ['xa.example']],
    ['b.example a.example,c.example', ['a.example', 'b.example', 'c.example'], ['d.example']],
    ['a.example:8443 b.example:80', ['a.example:8443', 'b.example'], ['a.example', 'b.example:8443']],
    ['10.1.2.3', ['10.1.2.3'], ['10.1.2.4', '10.1.2.30', 'x.10.1.2.3.example']],
    ['10.0.0.0/8', ['10.255.0.1'], ['11.0.0.1', 'ten.example']],
    ['192.168.4.0/22:443', ['192.168.7.255:443'], ['192.168.8.0:443', '192.168.7.1:80']],
    ['2001:db8::1', ['[2001:db8::1]', '[2001:db8:0:0::1]'], ['[2001:db8::2]']],
    ['[2001:db8::1]:443', ['[2001:db8::1]:443'], ['[2001:db8::1]:80']],
    ['fd00::/8', ['[fd12::1]'], ['[fe80::1]', '10.0.0.1']],
    ['10.0.0.0/33, 10.0.0.0/x, ., ,,[, :80', [], ['10.0.0.1', 'a.example', 'a.example:80']],
    ['*:443', ['a.example:443', '10.0.0.1:443'], ['a.example:80']],
    ['bücher.example', ['x.bücher.example', 'xn--bcher-kva.example'], ['b.example']],
    ['', [], ['a.example']],
  ] as const)
    it(`${JSON.stringify(list)} is read as curl reads it`, () => {
      const matches = noProxy([list])
      const matched = (host: string): boolean => {
        const { hostname, port } = new URL(`http://${host}`)
        return matches(hostname, Number(port || 80))
      }
      assert.deepEqual(
        yes.filter((host) => !matched(host)),
        [],
      )
      assert.deepEqual(no.filter(matched), [])
    })
})

describe('the address of a proxy', () => {
  it('has a port of its scheme, a login that is sent, and a form to be shown', () => {
    assert.deepEqual(proxyAddress('proxy.example'), {
      secure: false,
      hostname: 'proxy.example',
      port: 80,
      label: 'http://proxy.example:80',
    })
    assert.deepEqual(proxyAddress('proxy.example:3128').port, 3128)
    assert.deepEqual(proxyAddress(' http://proxy.example:3128\n').label, 'http://proxy.example:3128')
    assert.deepEqual(proxyAddress('HTTPS://Proxy.example/'), {
      secure: true,
      hostname: 'proxy.example',
      port: 443,
      label: 'https://proxy.example:443',
    })
    assert.deepEqual(proxyAddress('http://[::1]:8'), {
      secure: false,
      hostname: '::1',
      port: 8,
      label: 'http://[::1]:8',
    })
    const { authorization = '', label: shown } = proxyAddress('http://b%6Fb:p%40ss%3A%C3%BC@proxy.example:3128')
    assert.equal(Buffer.from(authorization.slice(6), 'base64').toString(), 'bob:p@ss:ü')
    assert.equal(shown, 'http://proxy.example:3128')
    assert.equal(proxyPassword('bob:p%40ss@proxy.example'), 'p@ss')
    assert.equal(proxyPassword('http://proxy.example'), '')
  })
  it('is refused in words, without what may be a password', () => {
    for (const [text, words] of [
      ['socks5://bob:secret@proxy.example:1080', /names a socks5:\/\/ proxy, which the gateway does not speak/],
      ['socks5h://proxy.example', /socks5h/],
      ['ftp://secret@proxy.example', /begins with http:\/\/ or https:\/\//],
      ['http://bob:100%secret@proxy.example', /%25/],
      ['http://', /no address/],
      ['http://bob:secret@', /no address/],
      ['http://bob:123/secret@proxy.example', /%2F/],
      ['http://bob:secret#1@proxy.example:3128', /%23/],
      ['bob:123?secret@proxy.example:3128', /%3F/],
      ['"http://proxy.example:3128"', /no address/],
      ['http:/proxy.example:3128', /no address/],
      ['http://proxy.example:0', /no address/],
    ] as const)
      assert.throws(
        () => proxyAddress(text),
        (error: Error) => words.test(error.message) && !error.message.includes('secret') && error instanceof TypeError,
        text,
      )
  })
})

describe('an environment for programs that speak to the gateway', () => {
  it('keeps them from a proxy, and keeps what was there', () => {
    const direct = '127.0.0.1,localhost,::1,[::1]'
    assert.deepEqual(directReason('http://127.0.0.1:8787', {}), {})
    const of = (env: Record<string, string>, address = 'http://127.0.0.1:8787') => directReason(address, env)
    assert.deepEqual(of({ https_proxy: 'p' }), { NO_PROXY: direct, no_proxy: direct })
    assert.equal(
      of({ HTTP_PROXY: 'p', NO_PROXY: 'a.example, localhost' }).no_proxy,
      'a.example,localhost,127.0.0.1,::1,[::1]',
    )
    assert.equal(of({ HTTP_PROXY: 'p', no_proxy: 'b', NO_PROXY: 'a' }).NO_PROXY, `b,${direct}`)
    assert.equal(of({ ALL_PROXY: 'p' }, 'http://10.0.0.5:8787').NO_PROXY, `${direct},10.0.0.5`)
  })
})
