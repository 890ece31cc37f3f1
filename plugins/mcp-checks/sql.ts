import { extname } from 'node:path'
import { plainSchema } from 'guard-gateway/core'
import { findViolations, textsAtPointers, type Violation } from 'guard-gateway/lib/check-arguments'
import { type Arguments, mcpCheck } from 'guard-gateway/lib/mcp-check'
import { OffThread } from 'guard-gateway/lib/off-thread'
import type { SqlOptions } from './sql/judge.ts'
import { operations } from './sql/operation.ts'
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

type Judge = typeof import('./sql/judge.ts')

/** The parsers take memory that only policies with this check need. */
let judge: Judge | undefined

const loadJudge = async (): Promise<Judge> => {
  judge ??= await import('./sql/judge.ts')
  return judge
}

/** Allows only the listed operations and functions without side effects. Refuses SQL that databases parse differently. */
export const sql = mcpCheck({
  id: 'sql',
  schema,
  async prepare() {
    const [{ loadPostgres }] = await Promise.all([import('./sql/postgres.ts'), loadJudge()])
    await loadPostgres()
  },

  compile: async (options): Promise<SqlOptions> => ({
    ...options,
    ...(options.allow_functions && { allow_functions: options.allow_functions.map((name) => name.toLowerCase()) }),
    ...(options.deny_functions && { deny_functions: options.deny_functions.map((name) => name.toLowerCase()) }),
  }),

  find: (args, options) =>
    judge === undefined ? loadJudge().then((loaded) => found(loaded, args, options)) : found(judge, args, options),
})

const found = ({ isLong, violationIn }: Judge, args: Arguments, options: SqlOptions) =>
  findViolations(textsAtPointers(args, options), ({ text, wrong }) => {
    if (text === undefined) return wrong
    return isLong(text) ? worker.run({ text, options }) : violationIn(text, options)
  })
