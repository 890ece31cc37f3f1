import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { playground, type Scenario, scenariosOf } from 'guard-gateway/plugins/playground'
import { type House, openHouse, type RanStep, type Run } from './kit.ts'

const gateway = new Gateway()
playground().apply(gateway)
const scenarios: readonly Scenario[] = [...scenariosOf(gateway)]
const styles = ['chat_completions', 'messages', 'responses']
const modes = ['shadow', 'enforce'] as const

const stylesFor = ({ steps }: Scenario): readonly (string | undefined)[] =>
  steps.every((step) => step.do === 'request' && step.style !== undefined) ? [undefined] : styles

/** Where the rules speak, by step: what the scenarios promise, written once more. */
const reasons: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  'exact-loop': { 3: 'LOOP_EXACT', 4: 'LOOP_EXACT' },
  'tool-loop': { 4: 'LOOP_TOOL_CALL' },
  'error-retry': { 6: 'LOOP_ERROR_RETRY' },
  'sequence-loop': { 12: 'LOOP_SEQUENCE' },
  'request-limit': { 6: 'LIMIT_REQUESTS' },
  'token-limit': { 4: 'LIMIT_TOKENS' },
  recovery: { 3: 'LOOP_EXACT' },
  'flag-only': { 3: 'LOOP_EXACT' },
  'paused-session': { 3: 'PAUSED_SESSION' },
  'paused-agent': { 3: 'PAUSED_AGENT' },
  'three-styles': { 3: 'LOOP_EXACT', 6: 'LOOP_EXACT', 9: 'LOOP_EXACT' },
}

const reasonsIn = ({ steps }: Run): object =>
  Object.fromEntries(steps.flatMap(({ index, reason }) => (reason === null ? [] : [[index, reason]])))

/** What must be the same each time. */
const outcomesOf = ({ status, matched, steps }: Run): object => ({
  status,
  matched,
  steps: steps.map(({ request_id: _id, repeats, ...step }) => ({
    ...step,
    repeats: repeats !== null,
    duration_ms: 0,
  })),
})

const storyOf = (run: Run): string =>
  [run.status, run.error?.message, ...run.steps.map(lineOf)].filter((line) => line !== undefined).join('\n')

const lineOf = ({ index, what, missed, ...seen }: RanStep): string =>
  `${index} ${what}: ${seen.http_status} ${seen.decision} ${seen.reason} ${seen.outcome} missed [${missed.join(', ')}]`

describe('every scenario ends as it says, each time', () => {
  let house: House
  before(async () => {
    // what a project is set to does not change how a scenario ends
    house = await openHouse({ default_mode: 'enforce' })
  })
  after(() => house.close())

  for (const scenario of scenarios) {
    for (const mode of modes) {
      for (const style of stylesFor(scenario)) {
        it(`${scenario.id}, ${mode}, ${style ?? 'its own styles'}`, async () => {
          const order = { scenario: scenario.id, mode, ...(style === undefined ? {} : { style }) }
          const first = await house.run(order)
          assert.equal(first.matched, true, storyOf(first))
          assert.equal(first.status, 'completed')
          assert.equal(first.style, style ?? null)
          assert.equal(first.steps_done, scenario.steps.length)
          assert.deepEqual(
            first.steps.map(({ index }) => index),
            scenario.steps.map((_, place) => place + 1),
          )
          assert.deepEqual(reasonsIn(first), reasons[scenario.id] ?? {})
          const second = await house.run(order)
          assert.deepEqual(outcomesOf(second), outcomesOf(first))
          assert.notEqual(second.session_id, first.session_id)
          assert.deepEqual(house.faults, [])
        })
      }
    }
  }

  it('is on record like other traffic', async () => {
    const run = await house.run({ scenario: 'exact-loop', mode: 'enforce' })
    const { body } = await house.ask<{ session: Record<string, unknown> }>('GET', `/api/sessions/${run.session_id}`)
    assert.equal(body.session.project_id, 'playground-exact-loop')
    assert.equal(body.session.agent_id, 'playground')
    assert.equal(body.session.external_id, `playground-${run.id}`)
    assert.equal(body.session.requests, 2)
    const { rows } = await house.gateway.storage.find('calls', {
      where: { session_id: run.session_id },
      order: ['recorded', 'asc'],
    })
    // the fourth request repeats the third, which was blocked: it is counted there
    assert.deepEqual(
      rows.map(({ id }) => id),
      run.steps.slice(0, 3).map(({ request_id }) => request_id),
    )
    assert.deepEqual(
      rows.map(({ upstream, mode, outcome, retries }) => ({ upstream, mode, outcome, retries })),
      [
        { upstream: 'playground', mode: 'enforce', outcome: 'ok', retries: 0 },
        { upstream: 'playground', mode: 'enforce', outcome: 'ok', retries: 0 },
        { upstream: 'playground', mode: 'enforce', outcome: 'blocked', retries: 1 },
      ],
    )
    assert.equal(run.steps[3]?.repeats, run.steps[2]?.request_id)
    assert.equal(run.steps[2]?.rule_id, 'exact_repeat')
  })
})

describe('the scenarios show all that the model side does', () => {
  const expectations = scenarios.flatMap(({ steps }) =>
    steps.flatMap(({ expect }) => modes.map((mode) => expect[mode])),
  )
  const seen = (name: 'decision' | 'reason') => new Set(expectations.map((outcome) => outcome[name]))

  it('every decision', () => {
    for (const decision of ['allow', 'shadow_flag', 'block'] as const)
      assert.ok(seen('decision').has(decision), decision)
  })

  it('both pauses', () => {
    for (const code of ['PAUSED_SESSION', 'PAUSED_AGENT']) assert.ok(seen('reason').has(code), code)
  })

  for (const file of readdirSync(join(import.meta.dirname, '../../../plugins/detectors'))) {
    it(`the rule of detectors/${file}, flagged and blocked`, async () => {
      const module: Record<string, { readonly code: string }> = await import(
        `guard-gateway/plugins/detectors/${file.replace(/\.ts$/, '')}`
      )
      const [detector] = Object.values(module)
      assert.ok(detector)
      const shown = new Set(
        expectations.flatMap(({ reason, decision }) => (reason === detector.code ? [decision] : [])),
      )
      assert.deepEqual([...shown].sort(), ['block', 'shadow_flag'])
    })
  }
})
