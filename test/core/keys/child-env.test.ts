import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { childEnv, Gateway, sha256, withheldText } from 'guard-gateway/core'

const known = () => {
  const gateway = new Gateway()
  for (const secret of ['upstream-key-0123456789', 'short', 'team-token-0123456789']) gateway.secrets.add(secret)
  return gateway
}
const names = (env: Readonly<Record<string, string>>): readonly string[] => Object.keys(env)

describe('the environment of a child', () => {
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
    const { withheld } = childEnv({ NOTE: 'approver-0123456789', OTHER: 'nothing' }, gateway)
    assert.deepEqual(withheld, ['NOTE'])
  })
  it('has what a person gives it, what is its own, and its user’s login, but none of our keys as that', () => {
    const env = {
      GUARD_MODE: 'x',
      SLACK: 'team-token-0123456789',
      ANTHROPIC_API_KEY: 'sk-of-the-user',
      ANTHROPIC_AUTH_TOKEN: 'upstream-key-0123456789',
      OPENAI_API_KEY: 'sk-another',
    }
    const own = new Set(['team-token-0123456789'])
    const left = childEnv(env, known(), { given: ['GUARD_MODE'], own, logins: /^ANTHROPIC_/ })
    assert.deepEqual(names(left.env), ['GUARD_MODE', 'SLACK', 'ANTHROPIC_API_KEY'])
    assert.deepEqual(left.withheld, ['ANTHROPIC_AUTH_TOKEN', 'OPENAI_API_KEY'])
  })
  it('is told of by names, with the way back', () => {
    assert.equal(withheldText('its', [], String), '')
    assert.equal(
      withheldText('its', ['A', 'B'], (name) => `--env ${name}`),
      'kept from its environment: A, B; --env A gives one back',
    )
  })
})
