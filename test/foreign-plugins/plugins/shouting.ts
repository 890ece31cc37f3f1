import { detector } from 'guard-gateway/core'
import { Type } from 'guard-gateway/lib/json'

/** Two requests in capitals, one after another. */
export const shouting = detector({
  id: 'shouting',
  code: 'LOOP_SHOUTING',
  version: '1',
  kind: 'loop',
  defaults: { threshold: 2, window_size: 4 },
  params: Type.Object({ letters: Type.Integer({ minimum: 1, default: 4 }) }),
  measure: (call) => /^[^a-z]*[A-Z]{4}[^a-z]*$/.test(lastText(call.body)),
  detect: ({ row, past, rule }) =>
    row.measures.shouting === true &&
    past.filter(({ measures }) => measures.shouting === true).length + 1 >= rule.threshold
      ? { message: `shouted ${rule.threshold} times`, evidence: 'session', count: rule.threshold }
      : undefined,
})

const lastText = (body: Uint8Array): string => {
  const { messages = [] } = JSON.parse(Buffer.from(body).toString()) as { messages?: { content: unknown }[] }
  return String(messages.at(-1)?.content ?? '')
}
