import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startMcp } from '../../../kit/mcp.ts'

it('an integer beyond 2^53 in a policy is read alike as JSON and as YAML', async () => {
  await using service = await startMcp()
  const rule =
    '{"id":"r","tools":["t"],"action":"allow","when":{"arguments":{"properties":{"n":{"const":9007199254740993}}}}}'
  const call = '{"call":{"tool":"t","arguments":{"n":9007199254740993}},"expect":"allow"}'
  const policy = `{"version":1,"rules":[${rule}],"tests":[${call}]}`
  const answers = await Promise.all(
    [policy, `{"policy":${policy}}`, JSON.stringify({ yaml: policy })].map(async (body) => {
      const response = await fetch(`${service.gateway.url}/api/v1/mcp/policies/validate`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${service.gateway.key}` },
        body,
      })
      const { valid, warnings, version } = (await response.json()) as {
        valid: boolean
        warnings: { code: string }[]
        version: string
      }
      return [response.status, valid, warnings?.map(({ code }) => code), version]
    }),
  )
  for (const answer of answers) assert.deepEqual(answer, [200, true, ['NUMBER_ROUNDED'], answers[2]?.[3]])
})

it('4.5: a policy is validated over the API beside the tools that servers have listed', async () => {
  await using service = await startMcp()
  const yaml = [
    'version: 1',
    'rules:',
    '  - { id: free, tools: [read_file], action: allow }',
    '  - { id: typo, tools: [raed_file], action: allow }',
    '  - { id: sized, tools: [read_file], action: confirm, checks: [{ size: { args: [/file], max_bytes: 1 } }] }',
  ].join('\n')
  const validate = async () => {
    const { status, text } = await service.gateway.request('POST', '/api/v1/mcp/policies/validate', { yaml })
    assert.equal(status, 200, text)
    const { valid, warnings } = JSON.parse(text)
    assert.equal(valid, true)
    return warnings.map(({ code, line, column }: Record<string, unknown>) => `${line}:${column} ${code}`)
  }
  assert.deepEqual(await validate(), [])
  await (await service.session()).request('tools/list')
  assert.deepEqual(await validate(), ['3:5 ALLOW_WITHOUT_CHECKS', '4:25 TOOL_NOT_SEEN', '5:81 POINTER_NOT_IN_SCHEMA'])
})
