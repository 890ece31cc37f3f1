import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Naming } from '../../../../plugins/mcp/bundle/naming.ts'
import { parseConfig } from '../../../../presets/default/config.ts'

const MODEL_API = /^[a-zA-Z0-9_-]{1,52}$/

describe('names in a bundle', () => {
  it('are such that model APIs take them, with what clients put before them', () => {
    const naming = new Naming('my.server', 'prefix', {})
    for (const own of ['a', 'a.b/c', 'ünï', '\u001b[2J', 'x'.repeat(128)])
      assert.match(naming.nameOf(own) ?? '', MODEL_API)
    assert.equal(naming.nameOf('a.b'), 'my_server_a_b')
  })

  it('that are too long are told apart', () => {
    const naming = new Naming('fs', 'prefix', {})
    const [one = '', two = ''] = ['x', 'y'].map((end) => naming.nameOf(`${'read_'.repeat(12)}${end}`))
    assert.notEqual(one, two)
    assert.equal(one.slice(0, 45), two.slice(0, 45))
  })

  it('lead back to those of the server', () => {
    const naming = new Naming('git', 'prefix', { rename: { git_status: 'status' }, hide: ['git_push*'] })
    const back = ['status', 'git_git_log', 'git_git_status', 'git_git_push', 'git_', 'other'].map((name) =>
      naming.ownOf(name),
    )
    assert.deepEqual(back, ['git_status', 'git_log', undefined, undefined, undefined, undefined])
    assert.equal(naming.nameOf('git_push_all'), undefined)
    assert.equal(new Naming('git', 'as_is', {}).nameOf('a.b'), 'a.b')
    assert.equal(new Naming('git', 'as_is', { prefix: 'g-' }).nameOf('log'), 'g-log')
  })
})

describe('bundles in the configuration', () => {
  const load = (mcp: string) =>
    parseConfig(`gateway_key: guard_0123456789abcdef\nmcp: { ${mcp} }\n`, '/w/guard-config.yml', {})
  const servers = 'servers: { a: { target: "http://127.0.0.1:1/mcp" }, b: { target: "http://127.0.0.1:1/mcp" } }'

  it('have defaults', async () => {
    const { config } = await load(`${servers}, bundles: { work: { servers: { a: {}, replay: {} } }, every: {} }`)
    assert.deepEqual(config.mcp.bundles.every, { servers: {}, names: 'prefix', wait_seconds: 8 })
    assert.deepEqual(config.mcp.bundles.work?.servers.a, { rename: {}, hide: [] })
  })

  for (const [what, bundles, message] of [
    [
      'an unknown server',
      '{ w: { servers: { c: {} } } }',
      /bundles\.w\.servers\.c: there is no MCP server "c" in mcp\.servers; there is a, b/,
    ],
    ['the name of a server', '{ a: {} }', /bundles\.a: an MCP server is called "a", too/],
    [
      'one name for two tools',
      '{ w: { servers: { a: { rename: { x: n } }, b: { rename: { y: n } } } } }',
      /bundles\.w\.servers\.b\.rename\.y: is called "n", as "x" of the server "a"; choose another name/,
    ],
    ['a name that model APIs refuse', '{ w: { servers: { a: { rename: { x: "a b" } } } } }', /rename\.x: /],
    ['another way to name', '{ w: { names: short } }', /names: .*prefix.*as_is/],
  ] as const)
    it(`may not have ${what}`, () => assert.rejects(load(`${servers}, bundles: ${bundles}`), message))

  it('need servers', () => assert.rejects(load('bundles: { w: {} }'), /there is no server in mcp\.servers/))
})
