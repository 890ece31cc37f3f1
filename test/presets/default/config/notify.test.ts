import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GuardError } from 'guard-gateway/core'
import { createGateway } from 'guard-gateway/presets/default'
import { notifier, notifierKind } from '#lib/notifier'
import { parseConfig } from '../../../../presets/default/config.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const parse = (section: string, env = {}, use: 'serve' | 'ask' = 'serve') =>
  parseConfig(`gateway_key: guard_0123456789abcdef\nnotify: ${section}`, '/w/guard-config.yml', env, use)
const refusal = async (section: string): Promise<string> => {
  const error = await parse(section)
    .then(({ config, refuse }) => createGateway(config, [], refuse))
    .then(
      () => assert.fail('was accepted'),
      (thrown: unknown) => thrown,
    )
  assert.ok(error instanceof GuardError, String(error))
  return error.message.replace(/^guard-config\.yml:2:\d+: notify\./, '')
}
const one = (options: string) => `{ receivers: { team: { ${options} } } }`

describe('receivers of notifications in a configuration', () => {
  it('are none by default', async () => {
    const { config } = await parseConfig('gateway_key: guard_0123456789abcdef', '/w/guard-config.yml', {})
    assert.deepEqual(config.notify, { base_url: '', receivers: {}, rules: [] })
  })
  it('take their secrets from the environment, which are hidden everywhere', async () => {
    const { config } = await parse(one(`notifier: webhook, url: "\${HOOK}", secret: "\${SECRET}"`), {
      HOOK: 'https://hooks.example/T0/the-hidden-hook',
      SECRET,
    })
    assert.deepEqual(config.notify.receivers.team, {
      notifier: 'webhook',
      url: 'https://hooks.example/T0/the-hidden-hook',
      secret: SECRET,
    })
    const { secrets } = await createGateway(config)
    for (const text of ['https://hooks.example/T0/the-hidden-hook', SECRET]) assert.ok(secrets.holds(text), text)
  })
  it('need no secret where a gateway is only asked', async () => {
    const section = one(`notifier: webhook, url: "\${HOOK}", secret: "\${SECRET}"`)
    await assert.rejects(parse(section), /HOOK is not set[\s\S]*SECRET is not set/)
    const { config } = await parse(section, {}, 'ask')
    assert.ok((await createGateway(config)).plugins().includes('notify'))
  })
  it('have rules with their defaults', async () => {
    const { config } = await parse(
      '{ receivers: { me: { notifier: ntfy, url: "https://ntfy.sh/t" } }, rules: [{ events: [paused], to: [me] }] }',
    )
    assert.deepEqual(config.notify.rules, [{ events: ['paused'], to: ['me'], every_minutes: 5 }])
  })

  for (const [section, message] of [
    [
      one('notifier: slak, url: "https://h.example"'),
      'receivers.team.notifier: there is no notifier "slak"; there is webhook, slack, ntfy, command. Did you mean "slack"?',
    ],
    [
      one('url: "https://h.example"'),
      'receivers.team: the key notifier is missing: webhook, slack, ntfy or command; or one of your own by its id',
    ],
    [one('notifier: webhook, url: "https://h.example"'), 'receivers.team: the key secret is missing'],
    [one('notifier: slack, url: "https://h.example", chanel: x'), 'receivers.team.chanel: unknown key.'],
    [
      one('notifier: slack, url: h.example'),
      'receivers.team.url: expected an address that begins with http:// or https://',
    ],
    [
      one('notifier: slack, url: "https://me:pass-1@h.example"'),
      'receivers.team.url: holds a user name or password; use the keys of its notifier',
    ],
    [one('notifier: command, command: "say hello"'), 'receivers.team.command: expected a list, found text'],
    [
      '{ receivers: { "a b": { notifier: slack } } }',
      'receivers["a…"]: must be 1 to 64 letters, digits, dots, underscores or dashes',
    ],
    [
      '{ rules: [{ events: [block] }] }',
      'rules[0].events[0]: there is no event "block"; there is blocked, flagged, paused, approval_waiting, budget, tool_changed, upstream_failing, storage_failing, test. Did you mean "blocked"?',
    ],
    ['{ rules: [{ to: [team] }] }', 'rules[0].to[0]: there is no receiver "team"; there is none.'],
    ['{ rules: [{ every_minutes: 0 }] }', 'rules[0].every_minutes: expected at least 1'],
    ['{ base_url: guard.example }', 'base_url: expected an address that begins with http:// or https://'],
  ] as const)
    it(`are refused with their place: ${section}`, async () => {
      const told = await refusal(section)
      assert.equal(told, message)
      assert.ok(!told.includes('pass-1'))
    })

  it('may be of a kind that a plugin brings', async () => {
    const { config } = await parse(one('notifier: pager, number: 7'))
    const pager = notifier({
      id: 'pager',
      schema: { type: 'object', properties: { number: { type: 'integer' } }, additionalProperties: false },
      connect: () => ({ label: 'pager', send: async () => ({ outcome: 'delivered' }) as const }),
    })
    const file = { ...config, plugins: [] }
    await assert.rejects(createGateway(file), /there is no notifier "pager"/)
    assert.ok((await createGateway(file, [pager])).registry(notifierKind).ids().includes('pager'))
  })
  it('are there in front of one MCP server, too, and nothing is loaded without one', async () => {
    const { config } = await parse(one('notifier: slack, url: "https://h.example"'))
    for (const preset of ['default', 'enforce-recommended', 'mcp-serve', 'mcp-stdio'] as const) {
      const plugins = (await createGateway({ ...config, preset })).plugins()
      for (const name of ['notify', 'notifier/slack', 'upstream-client/undici'])
        assert.ok(plugins.includes(name), `${preset} ${name}`)
    }
    const none = { ...config, preset: 'mcp-stdio' as const, notify: { ...config.notify, receivers: {} } }
    assert.ok(!(await createGateway(none)).plugins().includes('notify'))
  })
})
