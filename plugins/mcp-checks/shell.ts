import { extname } from 'node:path'
import { plainSchema } from 'guard-gateway/core'
import { findViolations, type PointerValue, type Violation, valuesAtPointer } from 'guard-gateway/lib/check-arguments'
import { type Arguments, mcpCheck } from 'guard-gateway/lib/mcp-check'
import { parserProcess } from 'guard-gateway/lib/parser-process'
import type { CheckOptions } from './shell/judge.ts'
import type { ShellText } from './shell/parser.ts'

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

const PARSER = new URL(`./shell/parser${extname(import.meta.filename)}`, import.meta.url).href

/** The rules of programs take memory that only policies with this check need. */
let lints: typeof import('./shell/lints.ts') | undefined

/** Every command in a text must start with an allowed entry. Dynamic parts, known only at run time, are refused. */
export const shell = mcpCheck({
  id: 'shell',
  schema,
  async prepare() {
    lints = await import('./shell/lints.ts')
  },

  lint(options) {
    if (lints === undefined) throw new Error('The shell check has not been prepared.')
    return lints.lintsOf(options)
  },

  find(args, options, { cwd }) {
    // a server with an unknown folder may run on another machine
    const mayBeOld = cwd === undefined || process.platform === 'darwin'
    return findViolations(valuesOf(args, options), ({ value }) =>
      parserProcess.parse<ShellText, Violation | undefined>(
        PARSER,
        { value, options: textOf(options), mayBeOld },
        { kind: 'shell', long: charsOf(value) > SHORT_CHARS, chars: charsOf(value) },
      ),
    )
  },
})

const texts = new WeakMap<CheckOptions, string>()

const textOf = (options: CheckOptions): string => {
  const text = texts.get(options) ?? JSON.stringify(options)
  texts.set(options, text)
  return text
}

/** Longer texts and lists do not keep short ones waiting. The slowest texts of this length take some tens of milliseconds. */
const SHORT_CHARS = 8_192

/** In a list, each word has a fixed cost. */
const charsOf = (value: unknown): number => {
  if (!Array.isArray(value)) return typeof value === 'string' ? value.length : 0
  return value.reduce((sum: number, word) => sum + (typeof word === 'string' ? word.length : 0) + 4, 0)
}

function* valuesOf(args: Arguments, options: CheckOptions): Generator<PointerValue> {
  for (const pointer of options.args) yield* valuesAtPointer(args, pointer)
}
