import { mcpCheck, plainSchema } from 'guard-gateway/core'
import { pointed } from 'guard-gateway/lib/check-arguments'

/** An argument of a tool call names one of these branches. */
export const branch = mcpCheck({
  id: 'branch',
  schema: plainSchema<{ arg: string; allow: string[] }>({
    type: 'object',
    additionalProperties: false,
    required: ['arg', 'allow'],
    properties: { arg: { $ref: '#/$defs/pointer' }, allow: { $ref: '#/$defs/strings' } },
  }),

  find: (args, { arg, allow }) =>
    pointed(args, arg).flatMap(({ pointer, value }) =>
      typeof value === 'string' && allow.includes(value)
        ? []
        : [{ pointer, reason: `names none of the branches ${allow.join(', ')}`, certain: typeof value === 'string' }],
    ),
})
