import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Detector, Registry } from 'guard-gateway/core'
import { toolRepeat } from 'guard-gateway/plugins/detectors/tool-repeat'
import { checkParams } from '../../../../plugins/policy/document/params.ts'
import type { Problem } from '../../../../plugins/policy/document/rules.ts'

it('a param of too many elements is one problem, not one for each of them', async () => {
  const detectors = { get: () => toolRepeat } as unknown as Registry<Detector>
  const problemsOf = async (value: unknown): Promise<Problem[]> => {
    const problems: Problem[] = []
    const rule = { rule_type: toolRepeat.id, params: { exempt_tools: value } }
    await checkParams([rule as never], '/rules', detectors, problems)
    return problems
  }
  const path = '/rules/0/params/exempt_tools'
  const many = [{ path, message: 'has more than 1000 elements' }]
  assert.deepEqual(await problemsOf(Array(1_001).fill(1)), many)
  assert.deepEqual(await problemsOf({ ...Array(1_001).fill(1) }), many)
  assert.deepEqual(await problemsOf(['a']), [])
  assert.equal((await problemsOf([1, 2])).length, 2)
})
