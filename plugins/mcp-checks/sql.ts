import { extname } from 'node:path'
import { plainSchema } from 'guard-gateway/core'
import { findViolations, textsAtPointers, type Violation } from 'guard-gateway/lib/check-arguments'
import { mcpCheck } from 'guard-gateway/lib/mcp-check'
import { OffThread } from 'guard-gateway/lib/off-thread'
import { isLong, type SqlOptions, violationIn } from './sql/judge.ts'
import { operations } from './sql/operation.ts'
import { loadPostgres } from './sql/postgres.ts'
import type { SqlTask } from './sql/worker.ts'

const worker = new OffThread<SqlTask, Violation | undefined>(
  new URL(`./sql/worker${extname(import.meta.filename)}`, import.meta.url).href,
)

const strings = { $ref: '#/$defs/strings' }

const schema = plainSchema<SqlOptions>({
  type: 'object',
  additionalProperties: false,
  required: ['args', 'operations'],
  properties: {
    args: { $ref: '#/$defs/pointers' },
    dialect: { enum: ['postgres', 'mysql', 'sqlite', 'generic'], default: 'generic' },
    operations: { type: 'array', minItems: 1, uniqueItems: true, items: { enum: [...operations] } },
    multiple_statements: { type: 'boolean', default: false },
    allow_functions: strings,
    deny_functions: strings,
    optional: { $ref: '#/$defs/optional' },
  },
})

/** Allows only the listed operations and functions without side effects. Refuses SQL that databases parse differently. */
export const sql = mcpCheck({
  id: 'sql',
  schema,
  prepare: loadPostgres,

  compile: async (options): Promise<SqlOptions> => ({
    ...options,
    ...(options.allow_functions && { allow_functions: options.allow_functions.map((name) => name.toLowerCase()) }),
    ...(options.deny_functions && { deny_functions: options.deny_functions.map((name) => name.toLowerCase()) }),
  }),

  find: (args, options) =>
    findViolations(textsAtPointers(args, options), ({ text, wrong }) => {
      if (text === undefined) return wrong
      return isLong(text) ? worker.run({ text, options }) : violationIn(text, options)
    }),
})
