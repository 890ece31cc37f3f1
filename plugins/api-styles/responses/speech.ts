import { contentOf, type Listener, listOf, type Shape, type Speech, shapeOf, wordOf } from 'guard-gateway/core'

/** What a reply of Responses says, and how its stream ends when tokens run out. */
export const responsesSpeech = (): Speech => {
  const items = new Map<unknown, Item>()
  let response: Shape | undefined
  let sequence = -1
  let over = false
  return {
    event(event, listener) {
      if (typeof event.sequence_number === 'number') sequence = event.sequence_number
      if (event.type === 'response.created') response = shapeOf(event.response)
      else if (ends.has(event.type)) over = true
      else note(items, event, listener)
    },
    body(value, listener) {
      for (const item of listOf(value.output).map(shapeOf)) {
        if (item.type !== 'message') listener.gap()
        else for (const text of contentOf(item.content).texts) listener.text(text)
      }
    },
    ending() {
      if (response === undefined || over) return ''
      const output = [...items.values()].map(({ item, text }) => (text === '' ? item : { ...item, ...spoken(text) }))
      const last = {
        type: 'response.incomplete',
        sequence_number: sequence + 1,
        response: {
          ...response,
          status: 'incomplete',
          incomplete_details: { reason: 'max_output_tokens' },
          output: output.map((item) => ({ ...item, status: item.status === 'completed' ? 'completed' : 'incomplete' })),
        },
      }
      return `event: ${last.type}\ndata: ${JSON.stringify(last)}\n\n`
    },
  }
}

/** An item of the output as far as it has come; `text` while it is still arriving. */
interface Item {
  item: Shape
  text: string
}

const ends: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error'])

const note = (items: Map<unknown, Item>, event: Shape, listener: Listener): void => {
  const { type, output_index } = event
  if (type === 'response.output_item.added') {
    items.set(output_index, { item: shapeOf(event.item), text: '' })
    if (shapeOf(event.item).type !== 'message') listener.gap()
  } else if (type === 'response.output_item.done') items.set(output_index, { item: shapeOf(event.item), text: '' })
  else if (type === 'response.output_text.delta') {
    const piece = wordOf(event.delta) ?? ''
    const item = items.get(output_index)
    if (item !== undefined) item.text += piece
    listener.text(piece)
  }
}

const spoken = (text: string) => ({ content: [{ type: 'output_text', text, annotations: [], logprobs: [] }] })
