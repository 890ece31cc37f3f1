import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dialects } from '../kit/dialogue.ts'
import { assertEventV1 } from '../kit/event-v1.ts'
import { startService } from '../kit/service.ts'

describe('6 events', () => {
  for (const dialect of dialects)
    it(`6.1 every decision is an event of its session, style ${dialect.style}: allow, shadow_flag and block`, async () => {
      await using service = await startService()
      const ask = () => service.send(dialect, [{ user: 'same' }], { 'x-guard-session-id': 'one' })
      const answers = [await ask(), await ask(), await ask()]
      await service.policy({ mode: 'enforce' })
      answers.push(await ask())
      const events = await service.events('one')
      assert.deepEqual(
        events.map(({ name, request_id, attributes }) => [
          name,
          request_id,
          attributes.decision,
          attributes.reason_code,
        ]),
        ['allow', 'allow', 'shadow_flag', 'block'].map((decision, n) => [
          'policy.decision',
          answers[n]?.headers.get('x-guard-request-id'),
          decision,
          n < 2 ? null : 'LOOP_EXACT',
        ]),
      )
    })
  it('6.1 can be read by decision', async () => {
    await using service = await startService()
    for (let n = 0; n < 3; n++)
      await service.request('POST', '/v1/responses', { model: 'm', input: 'x' }, { 'x-guard-session-id': 'one' })
    const { json } = await service.request('GET', '/api/sessions/one/events?decision=shadow_flag')
    assert.equal((json as { events: object[] }).events.length, 1)
  })
  it('6.4 each has the form event.v1', async () => {
    await using service = await startService()
    await service.request('POST', '/v1/responses', { model: 'm', input: 'x' }, { 'x-guard-session-id': 'one' })
    await service.request('POST', '/api/sessions/one/pause')
    const events = await service.events('one')
    assert.equal(events.length, 2)
    for (const event of events) assertEventV1(event)
  })
})
