import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isNotice } from '../../../../../plugins/lib/request-reader/results/notices.ts'

describe('a notice in the place of a result', () => {
  it('is what a client writes where a call took too long or was refused', () => {
    for (const text of [
      'Command timed out after 2m',
      '<tool_use_error>Error: The user rejected this',
      'MCP error -32001: Request timed out',
      'permission to use Bash denied',
    ])
      assert.equal(isNotice(text), true, text)
  })
  it('is nothing that a tool says, also before it', () => {
    for (const text of ['All tests passed.', 'exit code 1: the command timed out', 'Timeout\n\nbut first this', ''])
      assert.equal(isNotice(text), false, text)
  })
  it('has 600 characters at most', () => {
    assert.equal(isNotice('timeout'.padEnd(600, ' x')), true)
    assert.equal(isNotice('timeout'.padEnd(601, ' x')), false)
  })
})
