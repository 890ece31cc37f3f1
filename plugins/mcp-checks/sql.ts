import { extname } from 'node:path'
import { plainSchema } from 'guard-gateway/core'
import { findViolations, textsAtPointers, type Violation } from 'guard-gateway/lib/check-arguments'
import { mcpCheck } from 'guard-gateway/lib/mcp-check'
import { parserProcess } from 'guard-gateway/lib/parser-process'
import type { SqlOptions } from './sql/judge.ts'
import { operations } from './sql/operation.ts'
import type { SqlText } from './sql/parser.ts'

const PARSER = new URL(`./sql/parser${extname(import.meta.filename)}`, import.meta.url).href
/** Longer texts do not keep short ones waiting. The slowest texts of this length take some tens of milliseconds. */
const SHORT_CHARS = 8_192

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
  compile: async (options): Promise<SqlOptions> => ({
    ...options,
    ...(options.allow_functions && { allow_functions: options.allow_functions.map((name) => name.toLowerCase()) }),
    ...(options.deny_functions && { deny_functions: options.deny_functions.map((name) => name.toLowerCase()) }),
  }),

  find: (args, options) =>
    findViolations(textsAtPointers(args, options), ({ text, wrong }) =>
      text === undefined
        ? wrong
        : parserProcess.parse<SqlText, Violation | undefined>(
            PARSER,
            { text, options },
            { kind: 'sql', long: text.length > SHORT_CHARS, chars: text.length },
          ),
    ),
})
