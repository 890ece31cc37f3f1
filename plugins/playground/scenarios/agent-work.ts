import type { Expect, RequestStep, ScriptedText } from '../scenario.ts'

/** One tool call of an agent, and what the tool returned. */
export interface Turn {
  readonly what: string
  readonly call: string
  readonly arguments: object
  readonly returns: string
}

const SYSTEM = 'You are a coding agent. Use the tools, then say what you have done.'

/** The requests of an agent that calls one tool a turn: each holds all that came before, and the one after the last turn is answered in words. */
export const agentWork = (
  task: string,
  turns: readonly Turn[],
  last: { readonly what: string; readonly says: string },
  expect: (index: number) => Expect,
): readonly RequestStep[] => {
  const steps: RequestStep[] = []
  let say: readonly ScriptedText[] = [{ system: SYSTEM }, { user: task }]
  for (const [place, { what, call, arguments: args, returns }] of turns.entries()) {
    const made = { call, arguments: args, id: `call_${place + 1}` }
    const reply = { calls: [made], input_tokens: 400 + 60 * place, output_tokens: 40 }
    steps.push({ what, do: 'request', say, reply, expect: expect(place + 1) })
    say = [...say, made, { result: returns, of: made.id }]
  }
  const reply = { text: last.says, input_tokens: 1_000, output_tokens: 60 }
  return [...steps, { what: last.what, do: 'request', say, reply, expect: expect(turns.length + 1) }]
}

/** A request of one question without a history, answered in a sentence. */
export const asking = (what: string, user: string, expect: Expect, style?: string): RequestStep => ({
  what,
  do: 'request',
  say: [{ user }],
  reply: { text: 'Here is what I found.', input_tokens: 20, output_tokens: 6 },
  expect,
  ...(style === undefined ? {} : { style }),
})
