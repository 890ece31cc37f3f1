import { appendFile } from 'node:fs/promises'
import { plainSchema } from 'guard-gateway/core'
import { notifier } from 'guard-gateway/lib/notifier'

const schema = plainSchema<{ readonly file: string }>({
  type: 'object',
  properties: { file: { type: 'string', minLength: 1 } },
  required: ['file'],
  additionalProperties: false,
})

/** Appends one line per notification to a file, for a status bar that shows the last line. */
export const statusFile = notifier({
  id: 'status_file',
  schema,
  connect: ({ file }) => ({
    label: file,
    async send({ at, text, url }) {
      await appendFile(file, `${new Date(at).toISOString()}  ${text}  ${url}\n`)
      return { outcome: 'delivered' }
    },
  }),
})
