import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dialects, startService } from 'guard-gateway/test'

const session = { 'x-guard-session-id': 'one' }

describe('a request that no upstream serves', () => {
  for (const dialect of dialects)
    it(`is judged before an upstream is looked for: ${dialect.style}`, async () => {
      await using service = await startService({ upstreams: () => '[]' })
      const rules = [{ rule_type: 'exact_repeat', threshold: 2 }]
      await service.policy({ mode: 'enforce', rules })
      const ask = () => service.send(dialect, [{ user: 'again' }], session)
      const allowed = await ask()
      const { error } = allowed.json as { error: { code?: string; status?: string; message: string } }
      assert.equal(allowed.status, 404)
      assert.match(error.message ?? error, /No upstream serves style/)
      assert.equal(allowed.headers.get('x-guard-decision'), 'allow')
      const blocked = await ask()
      assert.deepEqual(
        [blocked.status, blocked.headers.get('x-guard-decision'), blocked.headers.get('x-guard-reason')],
        [429, 'block', 'LOOP_EXACT'],
      )
      const ended = (await service.events('one')).map(({ attributes }) => attributes.outcome)
      assert.deepEqual(ended.toSorted(), ['blocked', 'unreachable'])
    })

  it('is refused to a paused session first', async () => {
    await using service = await startService({ upstreams: () => '[]' })
    const [chat] = dialects
    if (chat === undefined) throw new Error('no dialect')
    await service.send(chat, [{ user: 'hi' }], session)
    await service.request('POST', '/api/sessions/one/pause', {})
    const answer = await service.send(chat, [{ user: 'and now?' }], session)
    assert.deepEqual([answer.status, answer.headers.get('x-guard-reason')], [409, 'PAUSED_SESSION'])
  })
})
