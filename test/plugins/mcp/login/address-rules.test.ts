import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AddressRules } from '../../../../plugins/mcp/login/address-rules.ts'

const names: Readonly<Record<string, readonly string[]>> = {
  'public.example': ['93.184.216.34'],
  'other.example': ['2606:4700::1111'],
  'inside.example': ['93.184.216.34', '10.0.0.5'],
  'metadata.example': ['169.254.169.254'],
  'here.example': ['127.0.0.1'],
  'mapped.example': ['::ffff:10.0.0.1'],
}

const rulesFor = (target: string, more: { insecure?: boolean; proxied?: boolean; trusted?: string } = {}) =>
  new AddressRules(
    { target: new URL(target), insecure: false, proxied: false, trusted: undefined, ...more },
    async (name) => names[name] ?? [],
  )

describe('the addresses that a server may name', () => {
  it('are no nearer to this machine than the server itself', async () => {
    const near = [
      ...['https://127.0.0.1/', 'https://localhost/', 'https://[::1]/', 'https://10.0.0.1/', 'https://192.168.1.1/'],
      ...['https://169.254.169.254/latest', 'https://[fd00::1]/', 'https://[::ffff:10.0.0.1]/', 'https://0.0.0.0/'],
      ...['https://2130706433/', 'https://0x7f.1/', 'https://inside.example/', 'https://metadata.example/'],
      ...['https://here.example/', 'https://mapped.example/', 'https://100.64.0.1/', 'http://127.0.0.1:99/'],
    ]
    for (const address of near)
      await assert.rejects(
        rulesFor('https://public.example/mcp').checked(address, 'X'),
        /X is .* address, and the MCP server has a public one\. Nothing is sent there/,
        address,
      )
    assert.ok(await rulesFor('https://public.example/mcp').checked('https://other.example/', 'X'))
    const inside = rulesFor('https://inside.example/mcp')
    assert.ok(await inside.checked('https://10.1.1.1/', 'X'))
    assert.ok(await inside.checked('https://other.example/', 'X'))
    await assert.rejects(inside.checked('https://here.example/', 'X'), /a loopback address, .* has a private one/)
    assert.ok(await rulesFor('http://127.0.0.1:3000/mcp').checked('http://localhost:9/', 'X'))
  })

  it('may be anywhere if a person has named them, and plain http goes where the configuration allows it', async () => {
    const trusted = 'https://inside.example/realm'
    assert.ok(await rulesFor('https://public.example/mcp', { trusted }).checked('https://inside.example/token', 'X'))
    const plain = 'http://inside.example/token'
    await assert.rejects(rulesFor('http://inside.example/mcp').checked(plain, 'X'), /is not reached by https/)
    assert.ok(await rulesFor('http://inside.example/mcp', { insecure: true }).checked(plain, 'X'))
    await assert.rejects(
      rulesFor('http://inside.example/mcp', { insecure: true }).checked('http://other.example/', 'X'),
      /is not reached by https/,
    )
    // who resolves the names is the proxy
    assert.ok(await rulesFor('https://public.example/mcp', { proxied: true }).checked('https://inside.example/', 'X'))
  })
})
