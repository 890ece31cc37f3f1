import { type CheckFinding, mcpCheck, plainSchema } from 'guard-gateway/core'
import { objectionsTo, pointedTexts } from 'guard-gateway/lib/check-arguments'
import { harmlessAnywhere } from './sql/functions-anywhere.ts'
import { harmlessInPostgres } from './sql/functions-postgres.ts'
import { type Asked, type Operation, operations, Unclear } from './sql/operation.ts'
import { askedPlainly } from './sql/plain.ts'
import { askedOfPostgres, loadPostgres } from './sql/postgres.ts'

const MAX_BYTES = 256 * 1024

type Dialect = 'postgres' | 'mysql' | 'sqlite' | 'generic'

interface Options {
  args: string[]
  dialect?: Dialect
  operations: Operation[]
  multiple_statements?: boolean
  allow_functions?: string[]
  deny_functions?: string[]
  optional?: boolean
}

const strings = { $ref: '#/$defs/strings' }

const schema = plainSchema<Options>({
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

/** SQL does allowed operations alone and calls functions without side effects; what databases read differently is refused. */
export const sql = mcpCheck({
  id: 'sql',
  schema,
  prepare: loadPostgres,

  compile: async (options): Promise<Options> => ({
    ...options,
    ...(options.allow_functions && { allow_functions: options.allow_functions.map((name) => name.toLowerCase()) }),
    ...(options.deny_functions && { deny_functions: options.deny_functions.map((name) => name.toLowerCase()) }),
  }),

  find(args, options): readonly CheckFinding[] {
    const { texts, findings } = pointedTexts(args, options)
    return [...findings, ...objectionsTo(texts, ({ text }) => objection(text, options))]
  },
})

type Objection = Omit<CheckFinding, 'pointer'>

const CONTROL = /[\p{Cc}--[\t\n]]/v

const objection = (written: string, options: Options): Objection | undefined => {
  // ends a line for every database, which a carriage return alone does not
  const text = written.replaceAll('\r\n', '\n')
  if (CONTROL.test(text)) return { reason: 'holds a control character', certain: true }
  if (Buffer.byteLength(text) > MAX_BYTES) return { reason: `is over ${MAX_BYTES} bytes long`, certain: true }
  const dialect = options.dialect ?? 'generic'
  try {
    return judged(dialect === 'postgres' ? askedOfPostgres(text) : askedPlainly(text, dialect), dialect, options)
  } catch (error) {
    if (error instanceof Unclear) return { reason: error.message, certain: false }
    throw error
  }
}

const judged = (asked: Asked, dialect: Dialect, options: Options): Objection | undefined => {
  if (asked.statements === 0) return { reason: 'holds no statement', certain: true }
  if (asked.statements > 1 && options.multiple_statements !== true)
    return { reason: `holds ${asked.statements} statements, one is allowed`, certain: true }
  for (const operation of asked.operations)
    if (!options.operations.includes(operation))
      return { reason: `does the operation ${operation}, which is not allowed`, certain: true }
  return ofFunctions(asked, dialect, options)
}

const ofFunctions = ({ functions, fields }: Asked, dialect: Dialect, options: Options): Objection | undefined => {
  const harmless = dialect === 'postgres' ? harmlessInPostgres : harmlessAnywhere
  for (const name of [...functions, ...fields]) {
    const shown = name.slice(0, 60)
    if (isDenied(name, options.deny_functions)) return { reason: `calls ${shown}, which is denied`, certain: true }
    if (functions.has(name) && !harmless.has(name) && options.allow_functions?.includes(name) !== true)
      return { reason: `calls ${shown}, which may have side effects`, certain: false }
  }
  return undefined
}

/** By the whole name or the last part of it, quotes and case aside. */
const isDenied = (name: string, denied: readonly string[] = []): boolean => {
  const plain = name.replace(/["`]/g, '').toLowerCase()
  return denied.some((entry) => entry === plain || entry === plain.slice(plain.lastIndexOf('.') + 1))
}
