import type { Listener } from 'guard-gateway/core'
import type { Speech } from 'guard-gateway/lib/api-style'
import { type JsonObject, jsonObjectOf, listOf, nonEmptyText } from 'guard-gateway/lib/json'

/** What a reply of Gemini says, and how its event stream ends when tokens run out. */
export const geminiSpeech = (): Speech => {
  let last: JsonObject | undefined
  const hear = (reply: JsonObject, listener: Listener): void => {
    // further candidates are other replies
    const candidate = jsonObjectOf(listOf(reply.candidates)[0])
    last = nonEmptyText(candidate.finishReason) === null ? reply : undefined
    for (const part of listOf(jsonObjectOf(candidate.content).parts).map(jsonObjectOf)) {
      const text = part.thought === true ? null : nonEmptyText(part.text)
      if (text !== null) listener.text(text)
      else listener.gap()
    }
  }
  return {
    event: hear,
    body: hear,
    ending() {
      if (last === undefined) return ''
      const content = { role: 'model', parts: [{ text: '' }] }
      const reply = { ...last, candidates: [{ content, finishReason: 'MAX_TOKENS', index: 0 }] }
      return `data: ${JSON.stringify(reply)}\r\n\r\n`
    },
  }
}
