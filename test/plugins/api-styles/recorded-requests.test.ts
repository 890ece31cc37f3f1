import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { gemini } from 'guard-gateway/plugins/api-styles/gemini'
import { pathPattern } from '#lib/api-style'
import { RequestReader, readRequest } from '#lib/request-reader'

/** What clients sent when they were run; long texts are shortened. */
const recorded: readonly { client: string; url: string; body: Record<string, unknown> }[] = JSON.parse(
  readFileSync(new URL('../../data/dialects/gemini.json', import.meta.url), 'utf8'),
)

const targetOf = (url: string) => {
  const [path = ''] = url.split('?')
  for (const own of gemini.paths) {
    const params = pathPattern(own).match(path)
    if (params !== undefined) return { path, params }
  }
  return assert.fail(url)
}

describe('recorded requests of Gemini clients', () => {
  for (const [index, { client, url, body }] of recorded.entries())
    it(`name a model, pair results with calls and hold nothing strange: ${client}, ${index}`, () => {
      const target = targetOf(url)
      const bytes = Buffer.from(JSON.stringify(body))
      const { envelope, conversation } = new RequestReader().read(gemini, bytes, '', target)
      assert.deepEqual([envelope.model, envelope.stream], ['m-1', url.includes(':stream')])
      assert.deepEqual(conversation.loose_results, [])
      const parts = [...envelope.before, ...(body.contents as unknown[]).flatMap((each) => gemini.parts(each))]
      assert.ok(parts.some(({ kind }) => kind === 'user'))
      for (const part of parts) assert.ok(!('blocks' in part), `${client} has blocks in a ${part.kind} part`)
    })

  it('are the same tool turn again and again where Gemini CLI runs the same command', () => {
    const last = recorded.findLast(({ client }) => client.startsWith('Gemini CLI'))
    assert.ok(last)
    const { turns } = readRequest(gemini, Buffer.from(JSON.stringify(last.body))).conversation
    const keys = turns.flatMap(({ calls }) => calls.map(({ key, result }) => `${key} ${result}`))
    assert.equal(keys.length, 2)
    // what differs is the id of a process, which the frame of the result holds
    assert.equal(new Set(keys).size, 1)
  })
})
