import type { Listener } from 'guard-gateway/core'
import { contentOf, eventText, type Speech } from 'guard-gateway/lib/api-style'
import { type JsonObject, jsonObjectOf, listOf, nonEmptyText } from 'guard-gateway/lib/json'

/** What a reply of Responses says, and how its stream ends when tokens run out. */
export const responsesSpeech = (): Speech => {
  const items = new Map<unknown, Item>()
  let response: JsonObject | undefined
  let sequence = -1
  let over = false
  return {
    event(event, listener) {
      if (typeof event.sequence_number === 'number') sequence = event.sequence_number
      if (event.type === 'response.created') response = jsonObjectOf(event.response)
      else if (ends.has(event.type)) over = true
      else note(items, event, listener)
    },
    body(value, listener) {
      for (const item of listOf(value.output).map(jsonObjectOf)) {
        if (item.type !== 'message') listener.gap()
        else for (const text of contentOf(item.content).texts) listener.text(text)
      }
    },
    ending() {
      if (response === undefined || over) return ''
      const open = [...items].filter(([, { done }]) => !done)
      const events = open.flatMap(([index, item]) => closing(index, item))
      const last = {
        type: 'response.incomplete',
        response: {
          ...response,
          status: 'incomplete',
          incomplete_details: { reason: 'max_output_tokens' },
          output: [...items.values()].map((item) => (item.done ? item.item : whole(item))),
        },
      }
      return [...events, last].map((event) => eventText({ ...event, sequence_number: ++sequence })).join('')
    },
  }
}

/** An item of the output as far as it has come. */
interface Item {
  item: JsonObject
  text: string
  done: boolean
}

const ends: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error'])

const note = (items: Map<unknown, Item>, event: JsonObject, listener: Listener): void => {
  const { type, output_index } = event
  if (type === 'response.output_item.added') {
    items.set(output_index, { item: jsonObjectOf(event.item), text: '', done: false })
    if (jsonObjectOf(event.item).type !== 'message') listener.gap()
  } else if (type === 'response.output_item.done') {
    items.set(output_index, { item: jsonObjectOf(event.item), text: '', done: true })
  } else if (type === 'response.output_text.delta') {
    const piece = nonEmptyText(event.delta) ?? ''
    const item = items.get(output_index)
    if (item !== undefined) item.text += piece
    listener.text(piece)
  }
}

const partOf = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] })

const whole = ({ item, text }: Item): JsonObject => ({
  ...item,
  status: 'incomplete',
  ...(item.type === 'message' ? { content: [partOf(text)] } : {}),
})

/** The events with which an item that is still arriving is said to be done. */
const closing = (output_index: unknown, open: Item): (JsonObject & { readonly type: string })[] => {
  const { item, text } = open
  const place = { item_id: item.id, output_index, content_index: 0 }
  const doneEvents =
    item.type === 'message'
      ? [
          { type: 'response.output_text.done', ...place, text, logprobs: [] },
          { type: 'response.content_part.done', ...place, part: partOf(text) },
        ]
      : []
  return [...doneEvents, { type: 'response.output_item.done', output_index, item: whole(open) }]
}
