import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { playground, type Scenario, scenariosOf } from 'guard-gateway/plugins/playground'
import { foundation } from 'guard-gateway/presets/foundation'
import { judgedActions, reasonCodes } from '../../../plugins/mcp/audit/enums.ts'

const gateway = new Gateway().use(...foundation())
playground().apply(gateway)
const scenarios: readonly Scenario[] = [...scenariosOf(gateway)]
const modes = ['shadow', 'enforce'] as const
const detectorFiles = readdirSync(join(import.meta.dirname, '../../../plugins/detectors')).filter((name) =>
  name.endsWith('.ts'),
)

describe('the scenarios show all that the MCP side does', () => {
  const outcomes = scenarios.flatMap(({ kind, steps }) =>
    kind === 'mcp' ? steps.flatMap(({ expect }) => modes.map((mode) => expect[mode])) : [],
  )

  // a frame that cannot be used is refused before anything is judged, so no call shows it
  for (const action of judgedActions.filter((name) => name !== 'refused'))
    it(`the action ${action}`, () => assert.ok(outcomes.some((outcome) => outcome.action === action)))

  // a pause is one for both sides, and shown by model requests
  for (const code of reasonCodes.filter((name) => !name.startsWith('PAUSED_')))
    it(`the reason ${code}`, () => assert.ok(outcomes.some(({ reason }) => reason === code)))

  for (const file of readdirSync(join(import.meta.dirname, '../../../plugins/mcp-checks')).filter(
    (name) => !name.endsWith('.md'),
  )) {
    const id = file.replace(/\.ts$/, '')
    it(`the check ${id}`, () => {
      const used = scenarios.filter(
        (one) => one.kind === 'mcp' && JSON.stringify(one.policy).includes(`"checks":[{"${id}":`),
      )
      assert.ok(used.some(({ steps }) => steps.some(({ expect }) => expect.enforce.action === 'deny')))
    })
  }
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

  for (const file of detectorFiles) {
    it(`the rule of detectors/${file}, flagged, and blocked unless it never refuses`, async () => {
      const module: Record<string, { readonly id: string; readonly code: string }> = await import(
        `guard-gateway/plugins/detectors/${file.replace(/\.ts$/, '')}`
      )
      const [detector] = Object.values(module)
      assert.ok(detector)
      // what is found in a reply is on record after its head, so that no client reads of it there
      if ('stream' in detector) {
        assert.ok(
          scenarios.some((one) => one.kind === 'model' && one.rules?.some((rule) => rule.rule_type === detector.id)),
        )
        return
      }
      // it compares sessions, and each run of a scenario is one more: a second run would end otherwise than the first
      if ('compares' in detector) return
      const shown = new Set(
        expectations.flatMap(({ reason, decision }) => (reason === detector.code ? [decision] : [])),
      )
      assert.deepEqual([...shown].sort(), 'advisory' in detector ? ['shadow_flag'] : ['block', 'shadow_flag'])
    })
  }
})
