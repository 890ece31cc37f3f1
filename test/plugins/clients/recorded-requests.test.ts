import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { profiles } from 'guard-gateway/plugins/clients'
import { statusOverride } from 'guard-gateway/plugins/http'
import { externalId } from '../../../plugins/sessions/sources.ts'

interface Recorded {
  readonly id: string
  readonly version: string
  readonly requests: readonly {
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: Readonly<Record<string, string>>
  }[]
}

const recorded: readonly Recorded[] = JSON.parse(
  readFileSync(new URL('../../data/agents/requests.json', import.meta.url), 'utf8'),
)
const valid = { name: (text: string) => text, external: (text: string) => text }

/** Where the session is found, and the status of a block that would be 429. */
const expected: Readonly<Record<string, readonly [source: string | undefined, status: number]>> = {
  cline: [undefined, 403],
  copilot: [undefined, 429],
  gemini: [undefined, 403],
  kilo: ['x-session-id', 403],
  pi: ['session_id', 403],
  'qwen-code': ['x-session-id', 403],
}

test('recordings are of the versions that profiles name', () => {
  assert.deepEqual(recorded.map(({ id }) => id).toSorted(), Object.keys(expected))
  for (const { id, version } of recorded)
    assert.equal(profiles.find((profile) => profile.id === id)?.tested_with, version, id)
})

for (const { id, requests } of recorded) {
  test(`requests of ${id} are one session, and a block gets the status at which it stops`, () => {
    const [source, status] = expected[id] ?? []
    const found = requests.map(({ headers }) => externalId(headers, {}, valid))
    for (const one of found) assert.equal(one?.external_source, source)
    assert.equal(new Set(found.map((one) => one?.external_id)).size, 1)
    for (const { headers } of requests) assert.equal(statusOverride({})(headers['user-agent'] ?? '', 429), status)
  })

  test(`requests of ${id} show no label and no key of the gateway`, () => {
    for (const { headers, path } of requests) {
      assert.match(path, /^\/v1\/chat\/completions$|^\/v1beta\/models\/m-1:streamGenerateContent/)
      for (const name of Object.keys(headers)) assert.doesNotMatch(name, /^x-guard-/)
      assert.equal(headers.authorization ?? headers['x-goog-api-key'], '(a key)')
    }
  })
}
