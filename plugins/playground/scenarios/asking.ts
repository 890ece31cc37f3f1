import type { Expect, RequestStep } from '../scenario.ts'

/** A request of one question without a history, answered in a sentence. */
export const asking = (what: string, user: string, expect: Expect, style?: string): RequestStep => ({
  what,
  do: 'request',
  say: [{ user }],
  reply: { text: 'Here is what I found.', input_tokens: 20, output_tokens: 6 },
  expect,
  ...(style === undefined ? {} : { style }),
})
