import { plainSchema } from 'guard-gateway/core'
import { findViolations, valuesAtPointer } from 'guard-gateway/lib/check-arguments'
import { mcpCheck } from 'guard-gateway/lib/mcp-check'

/** The argument must name one of the allowed branches. */
export const branch = mcpCheck({
  id: 'branch',
  schema: plainSchema<{ arg: string; allow: string[] }>({
    type: 'object',
    additionalProperties: false,
    required: ['arg', 'allow'],
    properties: { arg: { $ref: '#/$defs/pointer' }, allow: { $ref: '#/$defs/strings' } },
  }),

  find: (args, { arg, allow }) =>
    findViolations(valuesAtPointer(args, arg), ({ value }) =>
      typeof value === 'string' && allow.includes(value)
        ? undefined
        : { reason: `names none of the branches ${allow.join(', ')}`, certain: typeof value === 'string' },
    ),
})
