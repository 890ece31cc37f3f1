import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Dialect, dialects, type Step } from '../kit/dialogue.ts'
import { collidingTexts } from '../kit/murmur-collision.ts'
import { decisionOf, type Service, startService } from '../kit/service.ts'

const rules = [
  { rule_type: 'tool_repeat', threshold: 3, action: 'block', params: { result_aware: true } },
  { rule_type: 'exact_repeat', threshold: 3, action: 'block' },
]
const crafted = collidingTexts('213 passed, of them: '.padEnd(160, '.'), ' in 1.2 s').slice(0, 3)
const equal = crafted.map(() => `213 passed, of them: ${'x'.repeat(200)}`)

/** The last decision about a session that grows by one call a request, always the same, with these results. */
const asked = async (service: Service, dialect: Dialect, session: string, results: readonly string[]) => {
  const steps: Step[] = [{ user: 'Repair the failing test.' }]
  const decisions = []
  for (const result of results) {
    steps.push({ tool: 'run_tests', args: { all: true }, result })
    decisions.push(decisionOf(await service.send(dialect, steps, { 'x-guard-session-id': session })))
  }
  return decisions.at(-1)
}

describe('texts that somebody made for one digest to be that of all', () => {
  let service: Service
  before(async () => {
    service = await startService({ config: 'default_mode: enforce' })
    await service.policy({ rules })
  })
  after(() => service[Symbol.asyncDispose]())

  for (const dialect of dialects) {
    it(`are different results of a tool: ${dialect.style}`, async () => {
      const blocked = { status: 429, decision: 'block', reason: 'LOOP_TOOL_CALL' }
      assert.deepEqual(await asked(service, dialect, `equal ${dialect.style}`, equal), blocked)
      const passed = { status: 200, decision: 'allow', reason: null }
      assert.deepEqual(await asked(service, dialect, `crafted ${dialect.style}`, crafted), passed)
    })

    it(`are different requests: ${dialect.style}`, async () => {
      const last = async (session: string, texts: readonly string[]) => {
        const decisions = []
        for (const user of texts)
          decisions.push(decisionOf(await service.send(dialect, [{ user }], { 'x-guard-session-id': session })))
        return decisions.at(-1)?.reason
      }
      assert.equal(await last(`same ${dialect.style}`, equal), 'LOOP_EXACT')
      assert.equal(await last(`other ${dialect.style}`, crafted), null)
    })
  }
})
