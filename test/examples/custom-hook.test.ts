import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decisionOf, startService } from 'guard-gateway/test'
import { allowedModels } from '../../examples/custom-hook.ts'

test('another model is refused in enforce mode, flagged in shadow mode, and counted', async () => {
  await using service = await startService({ plugins: [allowedModels(['m-small'])] })
  const headers = { 'x-guard-session-id': 'mine' }
  const ask = (model: string) =>
    service.request(
      'POST',
      '/v1/chat/completions',
      { model, messages: [{ role: 'user', content: `Hello ${model}` }] },
      headers,
    )

  const rules = [{ rule_type: 'max_requests', threshold: 100 }]
  await service.policy({ mode: 'shadow', rules })
  assert.equal(decisionOf(await ask('m-small')).decision, 'allow')
  assert.deepEqual(decisionOf(await ask('m-large')), {
    status: 200,
    decision: 'shadow_flag',
    reason: 'MODEL_NOT_ALLOWED',
  })

  await service.policy({ mode: 'enforce', rules })
  const refused = await ask('m-huge')
  assert.deepEqual(decisionOf(refused), { status: 429, decision: 'block', reason: 'MODEL_NOT_ALLOWED' })
  assert.match(refused.text, /\\"m-huge\\" is not among the models m-small\./)
  const { requests, flagged, blocked } = await service.session('mine')
  assert.deepEqual({ requests, flagged, blocked }, { requests: 2, flagged: 1, blocked: 1 })
  assert.equal(service.provider.requests.length, 2)
})
