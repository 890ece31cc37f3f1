import { random } from '../kit/random.ts'

/** Requests of a session. */
const SESSION = 24

/** One request of an agent. */
export interface Ask {
  readonly session: string
  readonly body: object
}

/** What an agent asks, in order, session after session: new texts with planted repeats, or a growing conversation with planted equal tool calls. Equal arguments give equal requests. */
export const scriptOf = (agent: number, requests: number): readonly Ask[] => {
  const next = random(agent + 1)
  const asks: Ask[] = []
  for (let session = 0; asks.length < requests; session++) {
    const name = `agent-${agent}-session-${session}`
    asks.push(...((agent + session) % 2 === 0 ? texts(name, next) : tools(name, next)))
  }
  return asks.slice(0, requests)
}

const chat = (messages: readonly object[]): object => ({ model: 'bench-model', messages })

/** A number for each step, with stretches of the same one. */
const steps = (next: () => number): readonly number[] => {
  const found: number[] = []
  while (found.length < SESSION) {
    const step = found.length
    for (let times = next() < 0.12 ? 4 : 1; times > 0; times--) found.push(step)
  }
  return found.slice(0, SESSION)
}

const texts = (session: string, next: () => number): Ask[] =>
  steps(next).map((step) => ({ session, body: chat([{ role: 'user', content: `${session} asks ${step}` }]) }))

const tools = (session: string, next: () => number): Ask[] => {
  const messages: object[] = [{ role: 'user', content: `${session}: make the tests pass` }]
  return steps(next).map((step, at) => {
    const id = `call_${at}`
    const called = { name: 'read_file', arguments: JSON.stringify({ path: `src/${step}.ts` }) }
    messages.push(
      { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: called }] },
      { role: 'tool', tool_call_id: id, content: `what is in ${step}` },
    )
    return { session, body: chat([...messages]) }
  })
}
