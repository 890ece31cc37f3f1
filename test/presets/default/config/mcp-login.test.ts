import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseConfig } from '../../../../presets/default/config.ts'

const KEY = 'gateway_key: guard_test_key_that_is_long_enough\n'

const parsed = (mcp: string, env: Readonly<Record<string, string>> = {}) =>
  parseConfig(`${KEY}mcp: ${mcp}`, '/srv/guard-config.yml', env)

const server = (login: string, more = '') =>
  `{ servers: { docs: { target: "https://x.example/mcp", login: { ${login} }, ${more} } } }`

const refused = (mcp: string, message: RegExp) => assert.rejects(parsed(mcp), { message })

describe('the configuration of logins at MCP servers', () => {
  it('is complete with nothing in it, and off where it is not there', async () => {
    const { config } = await parsed(server(''))
    assert.deepEqual(config.mcp.servers.docs?.login, { per: 'server' })
    const off = await parsed('{ servers: { docs: { target: "https://x.example/mcp" } } }')
    assert.equal(off.config.mcp.servers.docs?.login, undefined)
  })

  it('takes secrets from the environment', async () => {
    const { config } = await parsed(
      server(`issuer: "https://login.example", client_id: a, client_secret: "\${CLIENT_SECRET}"`),
      {
        CLIENT_SECRET: 'hush',
      },
    )
    assert.equal(config.mcp.servers.docs?.login?.client_secret, 'hush')
  })

  it('says what is wrong', async () => {
    await refused(server('per: session'), /per.*server.*agent/s)
    await refused(server('', 'headers: { Authorization: "Bearer x" }'), /has the header authorization already/)
    await refused(server('client_secret: x'), /needs the key client_id beside it/)
    await refused(server('client_id: a, client_secret: x'), /needs the key issuer beside it: else it would go to/)
    await refused(server('client_metadata_url: "http://x.example/guard.json"'), /is an https: address with a path/)
    await refused(server('client_metadata_url: "https://x.example"'), /is an https: address with a path/)
    await refused(server('issuer: "http://x.example"'), /is an https: address, or an http: one on this machine/)
    await refused(server('redirect_uri: "https://evil.example/"'), /is an http: address on the machine of the browser/)
    await refused(server('scopes: ["a b"]'), /scopes/)
    await refused(server('token: x'), /token/)
    await refused(
      '{ servers: { files: { transport: stdio, command: x, login: {} } } }',
      /takes its credentials from env/,
    )
    await refused('{ login_key: short }', /is 32 random bytes in base64 or hex/)
    await refused('{ servers: { old: { transport: sse } } }', /transport sse needs the key target/)
  })

  it('takes a key for all gateways of a database', async () => {
    for (const key of [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 1).toString('hex')])
      assert.equal((await parsed(`{ login_key: "${key}" }`)).config.mcp.login_key, key)
  })
})
