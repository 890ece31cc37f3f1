import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  confirmResult,
  deniedByUserResult,
  invalidResult,
  limitResult,
  refusedResult,
} from '../../../../plugins/mcp/actions/texts.ts'
import type { PartialVerdict, Verdict } from '../../../../plugins/mcp/judge/verdict.ts'

const verdict = (action: Verdict['action'], ...winners: readonly PartialVerdict[]): Verdict => ({
  action,
  mode: 'enforce',
  winners,
  findings: [],
  policy_version: 'v',
})
const refused = (...given: Parameters<typeof refusedResult>): string => {
  const { content, isError, ...others } = refusedResult(...given)
  assert.deepEqual([isError, others, content.length], [true, {}, 1])
  return content[0].text
}

describe('what the client reads of a call that was not forwarded', () => {
  it('a question, with the id in text and structure', () => {
    const winners: readonly PartialVerdict[] = [
      { rule_id: 'a', action: 'confirm', message: 'Writes a.txt' },
      { rule_id: 'b', action: 'confirm' },
    ]
    const question = { approval_id: 'apr_1', server_id: 'fs', tool: 'write_file', expires_in_seconds: 300, winners }
    assert.deepEqual(confirmResult(question), {
      content: [
        {
          type: 'text',
          text: 'Approval required (apr_1): write_file on "fs". Ask the user to approve it in Guard, then retry the same call unchanged. Expires in 300 s. Writes a.txt',
        },
      ],
      structuredContent: { approval_id: 'apr_1', action: 'confirm' },
      isError: true,
    })
  })
  it('a denial by rule, with its reason and its own words', () => {
    assert.equal(refused('t', verdict('deny', { rule_id: 'no', action: 'deny' })), "Denied by rule 'no'.")
    const reason = '/path resolves outside the allowed folders'
    const message = 'Use ./trash.'
    assert.equal(
      refused(
        't',
        verdict('deny', { rule_id: 'in', action: 'deny', reason }, { rule_id: 'x', action: 'deny', message }),
      ),
      "Denied by rule 'in': /path resolves outside the allowed folders. Use ./trash.",
    )
  })
  it('a limit, with when to come again', () => {
    const opinion: PartialVerdict = {
      rule_id: 'budget',
      action: 'rate_limit',
      limit: { text: '10 calls per 60s', retry_after_seconds: 23 },
    }
    const text = "Rate limit of rule 'budget' reached: 10 calls per 60s. Retry in 23 s."
    assert.equal(refused('t', verdict('rate_limit', opinion)), text)
    assert.equal(limitResult(opinion).content[0].text, text)
  })
  it('a changed or new definition', () => {
    const pin: PartialVerdict = { rule_id: 'pin', action: 'deny' }
    assert.equal(
      refused('x', verdict('deny', pin), 'changed'),
      "The definition of 'x' changed since it was trusted. A person must review it.",
    )
    assert.equal(
      refused('x', verdict('deny', pin), 'new'),
      "The tool 'x' appeared after the others were trusted. A person must review it.",
    )
    assert.equal(
      refused('x', verdict('deny', pin, { rule_id: 'no', action: 'deny' }), 'changed'),
      "Denied by rule 'no'.",
    )
  })
  it('a no of the user, and arguments that do not fit', () => {
    assert.equal(deniedByUserResult('apr_1').content[0].text, 'Denied by the user (apr_1). Do not retry.')
    assert.equal(
      deniedByUserResult('apr_1', 'use docs/\n instead').content[0].text,
      'Denied by the user (apr_1): use docs/  instead. Do not retry the same call.',
    )
    assert.equal(
      invalidResult('read\u001b[31m_file', '/path must be string').content[0].text,
      "Invalid arguments for 'read_file': /path must be string. Not forwarded.",
    )
  })
})
