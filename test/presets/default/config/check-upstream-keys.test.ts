import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { foundation } from 'guard-gateway/presets/foundation'
import { addSecrets } from '../../../../presets/default/config/credentials.ts'
import { isServeOnlyError } from '../../../../presets/default/config/environment.ts'
import { parseConfig } from '../../../../presets/default/config.ts'

const ONE = 'sk-number-one-0123456789'
const TWO = 'sk-number-two-0123456789'
const parse = (members: string, env = {}) =>
  parseConfig(
    `gateway_key: guard_0123456789abcdef\nupstreams:\n  - { name: b, base_url: "https://b.example", styles: [messages], api_key: k }\n  - { name: a, base_url: "https://a.example", styles: [messages], ${members} }\n`,
    'guard-config.yml',
    env,
  )
const refusal = async (members: string): Promise<string> => {
  try {
    await parse(members)
  } catch (error) {
    return (error as Error).message
  }
  return assert.fail(`was accepted: ${members}`)
}

describe('keys of an upstream in a configuration', () => {
  it('come from the environment, and are credentials', async () => {
    const { config, warnings } = await parse(`api_keys: ["\${A}", "\${B}"], key_order: round_robin, auth: bearer`, {
      A: ONE,
      B: TWO,
    })
    assert.deepEqual(config.upstreams[1]?.api_keys, [ONE, TWO])
    assert.equal(config.upstreams[1]?.key_order, 'round_robin')
    assert.deepEqual(warnings, [])
    const { secrets } = new Gateway().use(...foundation())
    addSecrets(secrets, config)
    assert.ok(secrets.holds(`x ${ONE}`) && secrets.holds(TWO))
    assert.ok(isServeOnlyError({ path: ['upstreams', 0, 'api_keys', 1], message: '' }))
  })
  for (const [members, wanted] of [
    [
      `api_keys: [${ONE}], api_key: ${TWO}`,
      /upstreams\[1\]\.api_keys: stands beside api_key; put all keys into api_keys/,
    ],
    [`api_keys: [${ONE}, ${TWO}, ${ONE}]`, /upstreams\[1\]\.api_keys\[2\]: is the same key as api_keys\[0\]/],
    [`api_keys: [${ONE}, "${TWO}\\n"]`, /upstreams\[1\]\.api_keys\[1\]: /],
    [`api_keys: [${ONE}, ""]`, /upstreams\[1\]\.api_keys\[1\]/],
    [`api_keys: ${ONE}`, /upstreams\[1\]\.api_keys: expected a list, found text/],
    [`api_keys: [${ONE}], auth: passthrough`, /not used with auth: passthrough/],
    [`api_keys: [${ONE}], auth: none`, /not used with auth: none/],
    [`api_key: ${ONE}, key_order: random`, /in_order.*round_robin/],
    [`api_key: ${ONE}, fallback_on: [429]`, /fallback_on: says when to use a fallback, and there is none/],
    [`api_key: ${ONE}, fallback: [b], fallback_on: [200]`, /fallback_on\[0\].*400/],
    [`api_key: ${ONE}, fallback: [b], fallback_on: [429.5]`, /fallback_on\[0\]/],
    [`api_key: ${ONE}, circuit: { failures: -1 }`, /circuit\.failures/],
    [`api_key: ${ONE}, circuit: { open_seconds: 0 }`, /circuit\.open_seconds/],
    [`api_key: ${ONE}, circuit: { failure: 3 }`, /circuit.*failure/],
  ] as const)
    it(`that cannot be used are told without being shown: ${members.replaceAll(/sk-[\w-]+/g, 'sk')}`, async () => {
      const text = await refusal(members)
      assert.match(text, wanted)
      for (const key of [ONE, TWO]) assert.ok(!text.includes(key), text)
    })
  it('are missed where a way to show them is named, and statuses that lead nowhere are told', async () => {
    assert.match((await parse('auth: bearer')).warnings.join(), /Upstream a has auth: bearer but no api_key/)
    const { warnings } = await parse('auth: passthrough, fallback: [b], fallback_on: [401, 404, 429]')
    assert.match(warnings.join(), /Upstream a never falls back after 401, 429: .*login of the client/)
  })
})

describe('an upstream that says only what it must', () => {
  it('has the defaults of everything else', async () => {
    const { config } = await parseConfig('gateway_key: guard_0123456789abcdef\n', 'guard-config.yml', {
      OPENAI_API_KEY: 'sk-openai',
    })
    assert.deepEqual(config.upstreams, [
      {
        name: 'openai',
        base_url: 'https://api.openai.com',
        styles: ['responses', 'chat_completions'],
        api_key: 'sk-openai',
        api_keys: [],
        auth: 'auto',
        models: ['*'],
        headers: {},
        timeouts: { connect_ms: 10_000, headers_ms: 600_000, idle_ms: 300_000, total_ms: 0 },
        client: 'undici',
        inject_stream_usage: false,
        on_disconnect: 'abort',
        fallback: [],
        fallback_on: [],
        circuit: { failures: 0, open_seconds: 30 },
        key_order: 'in_order',
        model_map: {},
        paths: {},
        projects: [],
        websocket: 'auto',
      },
    ])
  })
})
