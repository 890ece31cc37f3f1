import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseConfig } from '../../../../presets/default/config.ts'

const key = 'gateway_key: guard_0123456789abcdef\n'
const parse = async (text: string, env = {}) => (await parseConfig(text, '/etc/guard/guard-config.yml', env)).config

describe('upstreams of a configuration', () => {
  it('uses the public services whose key is in the environment', async () => {
    const { upstreams } = await parse(key, { OPENAI_API_KEY: 'sk-openai', ANTHROPIC_API_KEY: '' })
    assert.deepEqual(upstreams, [
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
        client: 'net',
        inject_stream_usage: false,
        on_disconnect: 'abort',
        websocket: 'auto',
        fallback: [],
        fallback_on: [],
        circuit: { failures: 0, open_seconds: 30 },
        key_order: 'in_order',
        model_map: {},
        paths: {},
      },
    ])
    const both = await parse(key, { OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b' })
    assert.deepEqual(
      both.upstreams.map(({ name, styles }) => [name, styles]),
      [
        ['openai', ['responses', 'chat_completions']],
        ['anthropic', ['messages']],
      ],
    )
  })
  it('does not change a list of upstreams, even an empty one', async () => {
    assert.deepEqual((await parse(`${key}upstreams: []`, { OPENAI_API_KEY: 'sk-openai' })).upstreams, [])
  })
})
