import type { Listener } from 'guard-gateway/core'
import { eventText, type Speech } from 'guard-gateway/lib/api-style'
import { type JsonObject, jsonObjectOf, listOf, nonEmptyText } from 'guard-gateway/lib/json'

/** What a reply of Messages says, and how its stream ends when tokens run out. */
export const messagesSpeech = (): Speech => {
  const open = new Set<unknown>()
  let began = false
  let over = false
  let usage: JsonObject = {}
  const end = () => {
    over = true
  }
  const handlers: Readonly<Record<string, (event: JsonObject, listener: Listener) => void>> = {
    message_start: (event) => {
      began = true
      usage = jsonObjectOf(jsonObjectOf(event.message).usage)
    },
    content_block_start: ({ index, content_block }, listener) => {
      open.add(index)
      if (jsonObjectOf(content_block).type !== 'text') listener.gap()
    },
    content_block_delta: ({ delta }, listener) => {
      const text = nonEmptyText(jsonObjectOf(delta).text)
      if (text !== null) listener.text(text)
    },
    content_block_stop: ({ index }) => void open.delete(index),
    message_delta: end,
    error: end,
  }
  return {
    event(event, listener) {
      const type = nonEmptyText(event.type) ?? ''
      if (Object.hasOwn(handlers, type)) handlers[type]?.(event, listener)
    },
    body(value, listener) {
      for (const block of listOf(value.content).map(jsonObjectOf)) {
        const text = block.type === 'text' ? nonEmptyText(block.text) : null
        if (text === null) listener.gap()
        else listener.text(text)
      }
    },
    ending() {
      if (!began || over) return ''
      const stops = [...open].map((index) => ({ type: 'content_block_stop', index }))
      const output = typeof usage.output_tokens === 'number' ? usage.output_tokens : 0
      const delta = {
        type: 'message_delta',
        delta: { stop_reason: 'max_tokens', stop_sequence: null },
        usage: { output_tokens: output },
      }
      return [...stops, delta, { type: 'message_stop' }].map(eventText).join('')
    },
  }
}
