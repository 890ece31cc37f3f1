import { extname } from 'node:path'
import { plainSchema } from 'guard-gateway/core'
import { findViolations, type PointerValue, type Violation, valuesAtPointer } from 'guard-gateway/lib/check-arguments'
import { type Arguments, mcpCheck } from 'guard-gateway/lib/mcp-check'
import { OffThread } from 'guard-gateway/lib/off-thread'
import type { CheckOptions } from './shell/judge.ts'
import type { ShellTask } from './shell/worker.ts'

const schema = plainSchema<CheckOptions>({
  type: 'object',
  additionalProperties: false,
  required: ['args'],
  anyOf: [{ required: ['allow'] }, { required: ['deny'] }],
  properties: {
    args: { $ref: '#/$defs/pointers' },
    allow: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: {
        type: ['string', 'object'],
        minLength: 1,
        additionalProperties: false,
        required: ['command'],
        properties: {
          command: { type: 'string', minLength: 1 },
          end: { type: 'boolean', default: false, description: 'true: no word may follow' },
        },
      },
      description:
        'argv prefixes, compared word by word; an asterisk may follow. { command, end: true } is a whole command, to which no word may be added',
    },
    deny: {
      $ref: '#/$defs/strings',
      description: 'beginnings of commands, options in any order; an asterisk within a word stands for any characters',
    },
    redirects: { type: 'boolean', default: false },
    variables: {
      type: 'array',
      items: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
      uniqueItems: true,
      default: [],
    },
    optional: { $ref: '#/$defs/optional' },
  },
})

const worker = new OffThread<ShellTask, Violation | undefined>(
  new URL(`./shell/worker${extname(import.meta.filename)}`, import.meta.url).href,
)

interface Parts {
  readonly judge: typeof import('./shell/judge.ts')
  readonly lints: typeof import('./shell/lints.ts')
}

/** The grammar and the rules of programs take memory that only policies with this check need. */
let parts: Parts | undefined

const loadParts = async (): Promise<Parts> => {
  const [judge, lints, { loadGrammar }] = await Promise.all([
    import('./shell/judge.ts'),
    import('./shell/lints.ts'),
    import('./shell/grammar.ts'),
  ])
  await loadGrammar()
  parts = { judge, lints }
  return parts
}

/** Every command in a text must start with an allowed entry. Dynamic parts, known only at run time, are refused. */
export const shell = mcpCheck({
  id: 'shell',
  schema,
  prepare: async () => void (await loadParts()),

  lint(options) {
    if (parts === undefined) throw new Error('The shell check has not been prepared.')
    return parts.lints.lintsOf(options)
  },

  find(args, options, { cwd }) {
    // a server with an unknown folder may run on another machine
    const mayBeOld = cwd === undefined || process.platform === 'darwin'
    const found = ({ judge: { isLong, violationIn } }: Parts) =>
      findViolations(valuesOf(args, options), ({ value }) =>
        isLong(value) ? worker.run({ value, options, mayBeOld }) : violationIn(value, options, mayBeOld),
      )
    return parts === undefined ? loadParts().then(found) : found(parts)
  },
})

function* valuesOf(args: Arguments, options: CheckOptions): Generator<PointerValue> {
  for (const pointer of options.args) yield* valuesAtPointer(args, pointer)
}
