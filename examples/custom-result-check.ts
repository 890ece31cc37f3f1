import { plainSchema } from 'guard-gateway/core'
import { examineTexts, mcpResultCheck } from 'guard-gateway/lib/mcp-check'

/** Code names of the house do not leave a tool. */
export const codeNames = mcpResultCheck({
  id: 'code_names',
  schema: plainSchema<{ names: string[] }>({
    type: 'object',
    additionalProperties: false,
    required: ['names'],
    properties: { names: { $ref: '#/$defs/strings' } },
  }),
  mends: 'redact',

  find: (result, { names }) =>
    examineTexts(result, (text) =>
      names.flatMap((name) => {
        const start = text.indexOf(name)
        if (start === -1) return []
        const edit = {
          start,
          end: text.length,
          text: `[code name]${text.slice(start + name.length).replaceAll(name, '[code name]')}`,
        }
        return [{ reason: 'names something that has a code name', certain: true, edit }]
      }),
    ),
})
