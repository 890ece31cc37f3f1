import type { Listener } from 'guard-gateway/core'
import type { Speech } from 'guard-gateway/lib/api-style'
import { type JsonObject, jsonObjectOf, listOf, nonEmptyText } from 'guard-gateway/lib/json'

/** What a reply of Ollama says, and how its lines end when tokens run out. */
export const ollamaSpeech = (): Speech => {
  let last: JsonObject | undefined
  const hear = (reply: JsonObject, listener: Listener): void => {
    const message = jsonObjectOf(reply.message)
    const text = nonEmptyText(message.content) ?? nonEmptyText(reply.response)
    last = reply.done === true ? undefined : reply
    if (text !== null) listener.text(text)
    if (listOf(message.tool_calls).length > 0) listener.gap()
  }
  return {
    event: hear,
    body: hear,
    ending() {
      if (last === undefined) return ''
      const { model, created_at, message } = last
      const empty = message === undefined ? { response: '' } : { message: { role: 'assistant', content: '' } }
      return `${JSON.stringify({ model, created_at, ...empty, done: true, done_reason: 'length' })}\n`
    },
  }
}
