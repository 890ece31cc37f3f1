import { appendFileSync } from 'node:fs'
import { notifier } from 'guard-gateway/lib/notifier'

export const tell = notifier({
  id: 'tell_file',
  schema: { type: 'object', properties: { file: { type: 'string' } }, required: ['file'], additionalProperties: false },
  connect: ({ file }) => ({
    label: file,
    send: async ({ event, text }) => {
      appendFileSync(file, `${event}: ${text}\n`)
      return { outcome: 'delivered' }
    },
  }),
})
