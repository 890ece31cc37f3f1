import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { foundation } from 'guard-gateway/presets/foundation'
import { basicEnv, childEnv, withheldText } from '#lib/child-env'
import { sha256 } from '#lib/ids'

const known = () => {
  const gateway = new Gateway().use(...foundation())
  for (const secret of ['upstream-key-0123456789', 'short', 'team-token-0123456789']) gateway.secrets.add(secret)
  return gateway
}
const names = (env: Readonly<Record<string, string>>): readonly string[] => Object.keys(env)

describe('the environment of a child', () => {
  it('that a configuration starts is what programs need to run, and no credential in it', () => {
    const needed = {
      PATH: '/bin',
      ...(process.platform === 'win32' ? {} : { HOME: '/h', LANG: 'C', TZ: 'UTC', TMPDIR: '/t' }),
    }
    const others = { MY_API_KEY: 'unknown-to-the-gateway', EDITOR: 'vi', SHELL: 'upstream-key-0123456789' }
    assert.deepEqual(basicEnv({ ...others, ...needed, LC_ALL: 'C' }, known()), { ...needed, LC_ALL: 'C' })
  })
  it('has no GUARD_ variable and no usual key of a provider, whatever the configuration holds', () => {
    const ours = { GUARD_GATEWAY_KEY: 'a', guard_other: 'b', GUARD_APPROVER_KEY: 'c' }
    const providers = {
      OPENAI_API_KEY: 'sk-user-1',
      ANTHROPIC_API_KEY: 'sk-user-2',
      ANTHROPIC_AUTH_TOKEN: 'sk-user-3',
      CLAUDE_CODE_OAUTH_TOKEN: 'sk-user-4',
      GEMINI_API_KEY: 'sk-user-5',
      AZURE_OPENAI_API_KEY: 'sk-user-6',
      OPENROUTER_API_KEY: 'sk-user-7',
      OPENAI_API_KEY_2: 'sk-user-8',
      AWS_BEARER_TOKEN_BEDROCK: 'sk-user-9',
    }
    const { env, withheld } = childEnv({ ...ours, ...providers, HOME: '/h' }, known())
    assert.deepEqual(env, { HOME: '/h' })
    assert.deepEqual(withheld, [...names(ours), ...names(providers)])
  })
  it('has no key of a provider under a name of one’s own, in small letters, or by how it starts', () => {
    const providers = {
      openai_api_key: 'a-key',
      NEXT_PUBLIC_ANTHROPIC_API_KEY: 'a-key',
      MY_GEMINI_API_KEY: 'a-key',
      OPENAI_API_KEYS: 'a-key,another',
      OPENAI_API_KEY_BACKUP: 'a-key',
      OPENAI_APIKEY: 'a-key',
      OPENAI_TOKEN: 'a-key',
      REPLICATE_API_TOKEN: 'a-key',
      AZURE_OPENAI_KEY: 'a-key',
      HUGGINGFACEHUB_API_TOKEN: 'a-key',
      LLM: 'sk-ant-api03-0123456789abcdefghij',
      TEAM_JSON: '{"key":"sk-proj-0123456789abcdefghij"}',
      DSN: 'https://x:sk-or-v1-0123456789abcdefghij@host',
    }
    const { env, withheld } = childEnv(providers, known())
    assert.deepEqual([env, withheld], [{}, names(providers)])
    const kept = {
      OPENAI_API_KEY_FILE: '/run/secrets/openai',
      CLAUDE_CODE_API_KEY_HELPER_TTL_MS: '1000',
      DISABLE_OPENAI_API_KEY: '1',
      HF_TOKEN: 'of-the-user',
      GOOGLE_CLOUD_PROJECT: 'demo',
      SSH_AUTH_SOCK: '/run/agent',
      RISK: 'a task-proj-0123456789abcdefghij',
    }
    assert.deepEqual(childEnv(kept, known()), { env: kept, withheld: [] })
  })
  it('has no secret of the configuration, under any name and inside of any value', () => {
    const holding = {
      MY_PROVIDER: 'upstream-key-0123456789',
      HEADER: 'Bearer upstream-key-0123456789',
      ADDRESS: 'https://user:team-token-0123456789@host/path',
      CODED: Buffer.from('x:upstream-key-0123456789').toString('base64'),
      MY_KEY: 'short',
    }
    assert.deepEqual(childEnv(holding, known()), { env: {}, withheld: names(holding) })
  })
  it('keeps what only looks alike: settings of providers, other credentials of the user, short words', () => {
    const kept = {
      OPENAI_BASE_URL: 'http://x',
      CLAUDE_CODE_MAX_OUTPUT_TOKENS: '100',
      GITHUB_TOKEN: 'ghp_of-the-user',
      AWS_SECRET_ACCESS_KEY: 'of-the-user',
      SHLVL: 'short',
      HTTPS_PROXY: 'http://ann:team-token-0123456789@proxy.example:3128',
      OPENAI_API_KEY: '',
    }
    assert.deepEqual(childEnv({ ...kept, GONE: undefined }, known()), { env: kept, withheld: [] })
  })
  it('has no approver key, of which only the digest is known', () => {
    const gateway = known()
    gateway.approver.demand(`sha256:${sha256('approver-0123456789')}`)
    const key = 'approver-0123456789'
    const holding = {
      NOTE: key,
      PADDED: ` ${key}\n`,
      QUOTED: `"${key}"`,
      SCHEME: `Bearer ${key}`,
      JSON: `{"key":"${key}"}`,
      ADDRESS: `https://ann:${key}@host/path`,
      QUERY: `https://host/a?key=${key}&b=1`,
      BASIC: `Basic ${Buffer.from(`ann:${key}`).toString('base64')}`,
    }
    const { withheld } = childEnv({ ...holding, OTHER: 'nothing', PATH: '/usr/bin:/bin' }, gateway)
    assert.deepEqual(withheld, names(holding))
  })
  it('has what a person gives it, what is its own, and its user’s login, but none of our keys as that', () => {
    const env = {
      GUARD_MODE: 'x',
      SLACK: 'team-token-0123456789',
      ANTHROPIC_API_KEY: 'sk-of-the-user',
      ANTHROPIC_AUTH_TOKEN: 'upstream-key-0123456789',
      ANTHROPIC_ADMIN_KEY: 'sk-ant-admin01-of-the-user',
      OPENAI_API_KEY: 'sk-another',
    }
    const own = new Set(['team-token-0123456789'])
    const left = childEnv(env, known(), { given: ['GUARD_MODE'], own, logins: /^ANTHROPIC_/ })
    assert.deepEqual(names(left.env), ['GUARD_MODE', 'SLACK', 'ANTHROPIC_API_KEY'])
    assert.deepEqual(left.withheld, ['ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_ADMIN_KEY', 'OPENAI_API_KEY'])
  })
  it('is told of by names, with the way back', () => {
    assert.equal(withheldText('its', [], String), '')
    assert.equal(
      withheldText('its', ['A', 'B'], (name) => `--env ${name}`),
      'kept from its environment: A, B; --env A gives one back',
    )
  })
})
