import { extname } from 'node:path'
import { plainSchema } from 'guard-gateway/core'
import { findViolations, type PointerValue, type Violation, valuesAtPointer } from 'guard-gateway/lib/check-arguments'
import { type Arguments, type CheckLint, mcpCheck } from 'guard-gateway/lib/mcp-check'
import { OffThread } from 'guard-gateway/lib/off-thread'
import { loadGrammar } from './shell/grammar.ts'
import { type CheckOptions, isLong, violationIn } from './shell/judge.ts'
import { programName } from './shell/program.ts'
import { type Allowed, allowsAny, entryText, isWhole, withoutEnd } from './shell/rules.ts'
import { isSimpleProgram } from './shell/simple-programs.ts'
import type { ShellTask } from './shell/worker.ts'
import { isTransparent } from './shell/wrapped-commands.ts'

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

/** Every command in a text must start with an allowed entry. Dynamic parts, known only at run time, are refused. */
export const shell = mcpCheck({
  id: 'shell',
  schema,
  prepare: loadGrammar,

  lint: ({ allow, deny }) => [
    ...(allow === undefined && deny !== undefined
      ? [
          {
            code: 'SHELL_DENY_ONLY',
            message:
              'A list of denied commands is no boundary: programs that are not on it can do the same. Use allow.',
          },
        ]
      : []),
    ...open(allow).flatMap(entryLints),
  ],

  find(args, options, { cwd }) {
    // a server with an unknown folder may run on another machine
    const mayBeOld = cwd === undefined || process.platform === 'darwin'
    return findViolations(valuesOf(args, options), ({ value }) =>
      isLong(value) ? worker.run({ value, options, mayBeOld }) : violationIn(value, options, mayBeOld),
    )
  },
})

function* valuesOf(args: Arguments, options: CheckOptions): Generator<PointerValue> {
  for (const pointer of options.args) yield* valuesAtPointer(args, pointer)
}

/** Entries that allow further words. */
const open = (allow: readonly Allowed[] = []): readonly string[] =>
  allow.filter((entry) => !isWhole(entry)).map(entryText)

const entryLints = (entry: string): readonly CheckLint[] => {
  const words = withoutEnd(entry)
  const [program = ''] = words.split(/\s+/)
  if (words.includes('*'))
    return [
      {
        code: 'SHELL_ASTERISK_LITERAL',
        message: `"${entry}" is compared with commands as it stands: an asterisk within it stands for itself. Name each command, or end the entry with the word before; what follows is free.`,
      },
    ]
  if (allowsAny(entry))
    return [
      {
        code: 'SHELL_RUNNER_ALLOWED',
        message: `"${entry}" runs other commands, so that allowing it allows all of them. Allow the whole command.`,
      },
    ]
  if (isSimpleProgram(program) || isTransparent(programName(program))) return []
  return [
    {
      code: 'SHELL_ARGUMENTS_FREE',
      message: `"${entry}" may be given further words, and ${program} may run or write what they say, beyond the options known here. For these words alone, write { command: "${words}", end: true }.`,
    },
  ]
}
