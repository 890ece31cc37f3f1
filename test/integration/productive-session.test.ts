import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { allDialects, looping, productive, type Step } from '../kit/dialogue.ts'
import { decisionOf, errorOf, type Service, startService } from '../kit/service.ts'

const TURNS = 30
const enforce = 'default_mode: enforce'
const blocked = { status: 429, decision: 'block', reason: 'LOOP_TOOL_CALL' }
const allowed = { status: 200, decision: 'allow', reason: null }

for (const dialect of allDialects) {
  describe(`a session in the style ${dialect.style}`, () => {
    let service: Service
    before(async () => {
      service = await startService({ config: enforce })
    })
    after(() => service[Symbol.asyncDispose]())

    /** Sends the session as it stands after each of its steps; the decisions. */
    const grow = async (steps: readonly Step[], id: string) => {
      const decisions: ReturnType<typeof decisionOf>[] = []
      for (let length = 1; length <= steps.length; length++)
        decisions.push(decisionOf(await service.send(dialect, steps.slice(0, length), { 'x-guard-session-id': id })))
      return decisions
    }

    it(`of ${TURNS} tool turns that get on is never flagged`, async () => {
      const decisions = await grow(productive(TURNS), 'work')
      assert.equal(decisions.length, TURNS + 1)
      for (const decision of decisions) assert.deepEqual(decision, allowed)
      const session = await service.session('work')
      assert.deepEqual(
        [session.requests, session.flagged, session.blocked, session.errors, session.total_tokens],
        [TURNS + 1, 0, 0, 0, 25 * (TURNS + 1)],
      )
      const threads = new Set((await service.gateway.gateway.storage.find('calls', { limit: 200 })).rows.map(threadOf))
      assert.equal(threads.size, 1, 'every request extends the one before')
    })

    it('that polls with the same call but edits in between is flagged only as often as the rule says', async () => {
      const steps: Step[] = [{ user: 'Repair it.' }]
      for (let n = 0; n < 6; n++)
        steps.push(
          { tool: 'edit_file', args: { path: 'a.ts', text: `version ${n}` }, result: 'done' },
          { tool: 'read_file', args: { path: `b-${n}.ts` }, result: `text ${n}` },
        )
      for (const decision of await grow(steps, 'edits')) assert.deepEqual(decision, allowed)
    })

    it('that repeats one call is blocked at the third, and nothing of it reaches the provider', async () => {
      const seen = service.provider.requests.length
      assert.deepEqual(await grow(looping(3), 'stuck'), [allowed, allowed, allowed, blocked])
      assert.equal(service.provider.requests.length - seen, 3)
    })

    for (const [name, go] of [
      ['a new user message', async () => [...looping(3), { user: 'Stop that and look at b.ts.' }]],
      [
        'another call',
        async () => [...looping(2), { tool: 'read_file', args: { path: 'src/b.ts' }, result: 'other text' }],
      ],
      [
        'a resume',
        async (id: string) => {
          assert.equal((await service.request('POST', `/api/sessions/${id}/resume`)).status, 200)
          return looping(3)
        },
      ],
    ] as const) {
      it(`goes on after a block by ${name}`, async () => {
        const id = `way-out-${name.replaceAll(' ', '-')}`
        assert.deepEqual((await grow(looping(3), id)).at(-1), blocked)
        const again = await service.send(dialect, looping(3), { 'x-guard-session-id': id })
        assert.deepEqual(decisionOf(again), blocked, 'the block stands until something changes')
        const next = await service.send(dialect, await go(id), { 'x-guard-session-id': id })
        assert.deepEqual(decisionOf(next), allowed, JSON.stringify(errorOf(next)))
      })
    }

    it('counts a blocked retry on the record of the first one', async () => {
      await grow(looping(3), 'stubborn')
      for (let n = 0; n < 5; n++) await service.send(dialect, looping(3), { 'x-guard-session-id': 'stubborn' })
      const blocks = (await service.events('stubborn')).filter(({ attributes }) => attributes.decision === 'block')
      assert.equal(blocks.length, 1)
      assert.equal(blocks[0]?.attributes.retries, 5)
      assert.equal((await service.session('stubborn')).requests, 3)
    })
  })
}

const threadOf = (call: { readonly thread: string }): string => call.thread
