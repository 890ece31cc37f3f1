import type { Listener } from 'guard-gateway/core'
import { contentOf, type Speech } from 'guard-gateway/lib/api-style'
import { type JsonObject, jsonObjectOf, listOf, nonEmptyText } from 'guard-gateway/lib/json'

/** What a reply of Chat Completions says, and how its stream ends when tokens run out. */
export const chatSpeech = (): Speech => {
  const choices = new Set<number>()
  let chunk: JsonObject | undefined
  return {
    event(event, listener) {
      for (const choice of listOf(event.choices).map(jsonObjectOf)) {
        chunk = event
        const index = typeof choice.index === 'number' ? choice.index : 0
        if (nonEmptyText(choice.finish_reason) === null) choices.add(index)
        else choices.delete(index)
        // Further choices are other replies: listened to together they would seem to repeat each other.
        if (index === 0) emitMessage(jsonObjectOf(choice.delta), listener)
      }
    },
    body(value, listener) {
      emitMessage(jsonObjectOf(jsonObjectOf(listOf(value.choices)[0]).message), listener)
    },
    ending() {
      if (chunk === undefined || choices.size === 0) return ''
      const { id, created, model } = chunk
      const last = {
        id,
        object: 'chat.completion.chunk',
        created,
        model,
        choices: [...choices].map((index) => ({ index, delta: {}, finish_reason: 'length' })),
      }
      return `data: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`
    },
  }
}

const emitMessage = (message: JsonObject, listener: Listener): void => {
  for (const text of contentOf(message.content).texts) if (text !== '') listener.text(text)
  if (message.tool_calls !== undefined || message.function_call !== undefined) listener.gap()
}
