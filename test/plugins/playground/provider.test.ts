import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inHouse, KEY } from './kit.ts'

describe('the scripted provider', () => {
  it('answers nobody from outside, whatever they say of themselves', () =>
    inHouse(async (house) => {
      const run = await house.run({ scenario: 'exact-loop' })
      const body = { model: 'playground-model', messages: [{ role: 'user', content: 'What does src/tax.ts do?' }] }
      const names = {
        'x-guard-project-id': run.project_id,
        'x-guard-agent-id': run.agent_id,
        'x-guard-session-id': `playground-${run.id}`,
        'user-agent': 'guard-playground',
        'x-guard-upstream': 'playground',
      }
      for (const headers of [names, { ...names, 'x-guard-session-id': run.session_id ?? '' }, {}]) {
        const answer = await house.ask<{ error: { code: string } }>('POST', '/v1/chat/completions', body, {
          authorization: `Bearer ${KEY}`,
          ...headers,
        })
        assert.deepEqual([answer.status, answer.body.error.code], [404, 'NO_UPSTREAM'])
      }
    }))

  it('answers nobody who names it as an upstream, either', () =>
    inHouse(
      async (house) => {
        const body = { model: 'playground-model', messages: [{ role: 'user', content: 'hello' }] }
        const answer = await house.ask<{ error: { code: string } }>('POST', '/v1/chat/completions', body, {
          authorization: `Bearer ${KEY}`,
        })
        assert.deepEqual([answer.status, answer.body.error.code], [404, 'NO_UPSTREAM'])
      },
      {
        more: [
          {
            name: 'router',
            apply: (gateway) =>
              gateway.hooks.request.tap({ name: 'router', stage: -1000 }, (call) => {
                call.upstream = 'playground'
              }),
          },
        ],
      },
    ))
})
