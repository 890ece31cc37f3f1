import assert from 'node:assert/strict'
import type { ApiStyle, Part } from 'guard-gateway/core'

/** The smallest dialect: elements are parts already. */
export const plain: ApiStyle = {
  id: 'plain',
  paths: [],
  list: 'items',
  envelope: (members) => ({
    model: String(members.model ?? ''),
    stream: false,
    max_tokens: null,
    temperature: null,
    before: typeof members.system === 'string' ? [{ kind: 'system', text: members.system }] : [],
    after: [],
    tools: members.tools,
    tool_choice: members.tool_choice,
    previous_response_id: null,
    conversation: null,
    hints: {},
  }),
  parts: (element) => (Array.isArray(element) ? (element as Part[]) : [element as Part]),
  meter: () => ({ push: () => {}, end: () => assert.fail('not metered here') }),
  refusal: () => ({}),
}
