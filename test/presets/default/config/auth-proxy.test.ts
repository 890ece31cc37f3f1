import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseConfig } from '../../../../presets/default/config.ts'

const parsed = (section: string) =>
  parseConfig(`gateway_key: guard_0123456789abcdef\nserver: { auth_proxy: ${section} }\n`, 'guard-config.yml', {})

describe('server.auth_proxy', () => {
  it('is taken with people, groups and projects', async () => {
    const { config } = await parsed(
      '{ header: x-forwarded-user, from: [10.0.0.5, "10.1.0.0/16"], scopes: { default: [read], "a@b.example": [admin] }, groups: { ops: [operate] }, groups_header: x-forwarded-groups, projects: { "c@b.example": [web] } }',
    )
    assert.deepEqual(config.server.auth_proxy.scopes, { default: ['read'], 'a@b.example': ['admin'] })
  })
  for (const [section, message] of [
    ['{ from: [10.0.0.5] }', /server\.auth_proxy\.header: is missing/],
    ['{ header: x-user }', /server\.auth_proxy\.from: is empty/],
    ['{ header: x-user, from: [proxy] }', /server\.auth_proxy\.from\[0\]: expected an address/],
    ['{ header: x-user, from: ["10.0.0.0/40"] }', /server\.auth_proxy\.from\[0\]: expected 0 to 32 bits/],
    ['{ header: authorization, from: [10.0.0.5] }', /server\.auth_proxy\.header: "authorization" has another meaning/],
    ['{ header: x-forwarded-for, from: [10.0.0.5] }', /"x-forwarded-for" has another meaning/],
    ['{ header: "x user", from: [10.0.0.5] }', /"x user" is no name of a header/],
    [
      '{ header: x-user, groups_header: X-User, from: [10.0.0.5] }',
      /groups_header: is the header that names the person/,
    ],
    ['{ header: x-user, from: [10.0.0.5], scopes: { bob: [root] } }', /server\.auth_proxy\.scopes\.bob\[0\]/],
  ] as const) {
    it(`is refused: ${section}`, async () => {
      await assert.rejects(parsed(section), (error: Error) => {
        assert.match(error.message, message)
        return true
      })
    })
  }
})
