import assert from 'node:assert/strict'
import { it } from 'node:test'
import { gemini } from 'guard-gateway/plugins/api-styles/gemini'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { stylePaths } from '../../../plugins/docs/style-paths.ts'

interface Described {
  readonly summary: string
  readonly parameters: readonly { readonly name: string }[]
  readonly requestBody?: object
}

it('describes paths of dialects that have parameters, and no others', () => {
  const paths = stylePaths([gemini, responses]) as Record<string, Record<string, Described>>
  const generate = paths['/v1beta/{model}:generateContent']?.post
  assert.deepEqual(
    generate?.parameters.map(({ name }) => name),
    ['model'],
  )
  assert.notEqual(generate?.requestBody, undefined)
  const stored = paths['/v1/responses/{response}'] ?? {}
  assert.deepEqual(Object.keys(stored), ['get', 'delete'])
  assert.match(stored.get?.summary ?? '', /not counted \(responses\)/)
  assert.equal(stored.get?.requestBody, undefined)
  assert.equal(paths['/v1/responses'], undefined)
})
