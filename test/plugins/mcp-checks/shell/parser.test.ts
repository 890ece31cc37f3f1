import assert from 'node:assert/strict'
import { it } from 'node:test'
import { load, parse } from '../../../../plugins/mcp-checks/shell/parser.ts'

it('the rules of a policy are made once, not for each command', async (test) => {
  await load()
  const options = JSON.stringify({ args: ['/command'], allow: ['git log'] })
  const { mock } = test.mock.method(JSON, 'parse')
  assert.equal(parse({ value: 'git log', options, mayBeOld: false }), undefined)
  assert.equal(parse({ value: 'git push', options, mayBeOld: false })?.certain, true)
  assert.equal(mock.callCount(), 1)
})
