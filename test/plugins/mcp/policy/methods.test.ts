import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { Gateway } from 'guard-gateway/core'
import { validatePolicy } from '../../../../plugins/mcp/policy/validate.ts'
import { openGateway, policyOf } from './kit.ts'

let gateway: Gateway
before(async () => {
  gateway = await openGateway()
})
after(() => gateway.close())

const told = async (methods: object) => {
  const { errors, warnings } = await validatePolicy(gateway, { value: { version: 1, rules: [], methods } })
  return [...errors, ...warnings].map(({ path, message }) => `${path} ${message}`)
}

it('methods that cannot be ruled, and names that are none, are told', async () => {
  assert.deepEqual(await told({ 'resources/read': 'deny', other: 'deny', 'x/*': 'allow' }), [])
  assert.deepEqual(await told({ 'tools/call': 'deny' }), [
    '/methods/tools~1call calls of tools are ruled under "rules"',
  ])
  assert.match((await told({ 'notifications/initialized': 'deny' })).join(), /notifications always pass/)
  assert.match((await told({ ping: 'deny' })).join(), /"ping" always passes/)
  assert.match(
    (await told({ 'resource/read': 'deny' })).join(),
    /is no request of MCP; did you mean "resources\/read"\?/,
  )
  assert.match((await told({ 'resources/read': 'ask' })).join(), /must be one of allow, confirm, deny/)
  assert.match((await told({ 'a b': 'deny' })).join(), /is no name of a method/)
})

it('a policy that asks about a method asks', async () => {
  assert.equal((await policyOf(gateway, [], { methods: { 'prompts/get': 'confirm' } })).asks, true)
  assert.equal((await policyOf(gateway, [], { methods: { 'prompts/get': 'deny' } })).asks, false)
})
