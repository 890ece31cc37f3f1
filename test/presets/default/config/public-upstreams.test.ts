import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseConfig } from '../../../../presets/default/config.ts'

const key = 'gateway_key: guard_0123456789abcdef\n'
const parse = async (text: string, env = {}) => (await parseConfig(text, '/etc/guard/guard-config.yml', env)).config

describe('upstreams of a configuration', () => {
  it('uses the public services whose key is in the environment', async () => {
    const { upstreams } = await parse(key, { OPENAI_API_KEY: 'sk-openai', ANTHROPIC_API_KEY: '' })
    assert.deepEqual(
      upstreams.map(({ name, base_url, styles, api_key }) => [name, base_url, styles, api_key]),
      [['openai', 'https://api.openai.com', ['responses', 'chat_completions'], 'sk-openai']],
    )
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
