import { prose, random } from './random.ts'

/** A conversation as bytes. It can be cut after any turn, and a new stamp makes it a different conversation. */
export interface Template {
  /** The body up to the end of the last turn, without `tail`. */
  readonly bytes: Buffer
  /** Offsets of the stamps, 12 characters each. Every text, call id and argument contains one. */
  readonly stamps: readonly number[]
  /** Byte offset at the end of each turn. A body is the bytes up to one of them, then `tail`. */
  readonly ends: readonly number[]
  readonly tail: Buffer
}

/** Size of a conversation; lengths in characters. */
export interface TemplateOptions {
  readonly style: 'chat_completions' | 'messages'
  /** Characters of the first user message. */
  readonly first: number
  /** Assistant turns. Each one calls a tool and includes its result. */
  readonly turns: number
  /** Characters of each tool result. */
  readonly result: number
  /** Characters of the system prompt. */
  readonly system: number
  readonly tools: number
  readonly stream: boolean
  readonly seed: number
}

/** The placeholder for a stamp in a template. */
const BLANK = 'stamp_______'

/** Length of a stamp in characters. */
export const STAMP = BLANK.length

/** Builds the conversation of a coding agent that reads one file after another. Equal options give equal bytes. */
export const template = (options: TemplateOptions): Template => {
  const next = random(options.seed)
  const style = apiStyles[options.style]
  const turns: string[] = []
  for (let turn = 0; turn < options.turns; turn++) {
    turns.push(
      ...style.turn(`call_${turn}_${BLANK}`, `src/${turn}/${BLANK}.ts`, `${BLANK} ${prose(next, options.result)}`),
    )
  }
  const head = style.head(prose(next, options.system), `${BLANK} ${prose(next, options.first)}`)
  const parts = [head, ...joined(turns, style.perTurn)].map((part) => Buffer.from(part))
  const bytes = Buffer.concat(parts)
  const tail = style.tail(
    prose(next, options.system),
    Array.from({ length: options.tools }, (_, index) => prose(next, 400 + index)),
    options.stream,
  )
  return { bytes, stamps: offsets(bytes), ends: running(parts), tail: Buffer.from(tail) }
}

/** Writes the same 12 characters over every stamp, so that all texts, ids and arguments are new. */
export const stamp = (bytes: Buffer, stamps: readonly number[], value: string): void => {
  for (const offset of stamps) bytes.write(value, offset, STAMP, 'latin1')
}

/** A complete body with the first `turns` turns of the template. */
export const bodyOf = ({ bytes, ends, tail }: Template, turns: number): Buffer =>
  Buffer.concat([bytes.subarray(0, ends[Math.min(turns, ends.length - 1)] ?? bytes.length), tail])

/** The elements of one turn as text, with a leading comma. */
const joined = (elements: readonly string[], perTurn: number): string[] => {
  const turns: string[] = []
  for (let at = 0; at < elements.length; at += perTurn) turns.push(`,${elements.slice(at, at + perTurn).join(',')}`)
  return turns
}

const running = (parts: readonly Buffer[]): number[] => {
  let end = 0
  return parts.map((part) => {
    end += part.length
    return end
  })
}

const offsets = (bytes: Buffer): number[] => {
  const found: number[] = []
  for (let at = bytes.indexOf(BLANK); at !== -1; at = bytes.indexOf(BLANK, at + STAMP)) found.push(at)
  return found
}

/** Per API style, the member order of a client's body: model, conversation, then the rest. */
const apiStyles = {
  chat_completions: {
    perTurn: 2,
    head: (system: string, user: string) =>
      `{"model":"bench-model","messages":[${JSON.stringify({ role: 'system', content: system })},${JSON.stringify({ role: 'user', content: user })}`,
    turn: (id: string, path: string, result: string) => [
      JSON.stringify({
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: { name: 'read_file', arguments: JSON.stringify({ path }) } }],
      }),
      JSON.stringify({ role: 'tool', tool_call_id: id, content: result }),
    ],
    tail: (_system: string, tools: readonly string[], stream: boolean) =>
      `]${listed(
        tools.map((description, index) => ({
          type: 'function',
          function: { name: `tool_${index}`, description, parameters },
        })),
      )},"max_tokens":1024,"stream":${stream}${stream ? ',"stream_options":{"include_usage":true}' : ''}}`,
  },
  messages: {
    perTurn: 2,
    head: (_system: string, user: string) =>
      `{"model":"bench-model","messages":[${JSON.stringify({ role: 'user', content: [{ type: 'text', text: user }] })}`,
    turn: (id: string, path: string, result: string) => [
      JSON.stringify({
        role: 'assistant',
        content: [
          { type: 'text', text: `Now ${path}.` },
          { type: 'tool_use', id, name: 'read_file', input: { path } },
        ],
      }),
      JSON.stringify({
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: result }] }],
      }),
    ],
    tail: (system: string, tools: readonly string[], stream: boolean) =>
      `],"system":${JSON.stringify([{ type: 'text', text: system }])}${listed(
        tools.map((description, index) => ({ name: `tool_${index}`, description, input_schema: parameters })),
      )},"max_tokens":1024,"stream":${stream}}`,
  },
} as const

const parameters = {
  type: 'object',
  properties: { path: { type: 'string', description: 'absolute path' }, limit: { type: 'integer' } },
  required: ['path'],
}

const listed = (tools: readonly object[]): string => (tools.length === 0 ? '' : `,"tools":${JSON.stringify(tools)}`)
