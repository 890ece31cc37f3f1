import { isJsonObject } from '#lib/json'
import { doubled, type Misbehaviour } from './misbehave.ts'
import { PNG, WAV } from './samples.ts'
import {
  type Arguments,
  type Content,
  numberOf,
  object,
  stringOf,
  type TestTool,
  type ToolResult,
  text,
} from './tool.ts'
import { askingTools } from './tools/asking.ts'

/** How a test server is to be. */
export interface TestServerOptions {
  /** Tools on one page of a list; all of them if absent. */
  readonly page_size?: number
  readonly misbehave?: Misbehaviour
}

/** What all sessions of a test server share: its tools, their files, and how often they were listed. */
export class TestServer {
  readonly misbehave: Misbehaviour | undefined
  readonly #pageSize: number
  readonly #tools: readonly TestTool[]
  #lists = 0

  constructor({ page_size = Number.POSITIVE_INFINITY, misbehave }: TestServerOptions = {}) {
    this.#pageSize = page_size
    this.misbehave = misbehave
    const shapes = shapeTools(() => this.#lists)
    this.#tools = [...contentTools, ...timingTools, ...askingTools, ...deedTools(), ...shapes]
  }

  tool(name: string): TestTool | undefined {
    return this.#tools.find((tool) => tool.name === name)
  }

  /** A page of the list of tools; undefined if there is none at this cursor. */
  page(cursor: string | undefined): object | undefined {
    const start = cursor === undefined ? 0 : Number(cursor)
    if (!Number.isSafeInteger(start) || start < 0) return undefined
    if (start === 0) this.#lists++
    if (this.misbehave === 'endless-cursor') return endless(start)
    const tools = this.#listed()
    if (start > tools.length) return undefined
    const end = start + this.#pageSize
    return { tools: tools.slice(start, end), ...(end < tools.length ? { nextCursor: String(end) } : {}) }
  }

  #listed(): readonly object[] {
    const tools = this.#tools.map(({ name, description, inputSchema, outputSchema }) => ({
      name,
      description,
      inputSchema,
      ...(outputSchema === undefined ? {} : { outputSchema }),
    }))
    if (this.misbehave !== 'late-tool' || this.#lists < 2) return tools
    return [...tools, { name: 'late_tool', description: 'Came later', inputSchema: { type: 'object' } }]
  }

  /** The result of a list of tools or of a call as JSON text. */
  written(result: object): string {
    return this.misbehave === 'duplicate-json' ? doubled(result) : JSON.stringify(result)
  }
}

const ENDLESS = 100

const endless = (start: number): object => ({
  tools: Array.from({ length: ENDLESS }, (_, index) => ({
    name: `endless_${start + index}`,
    description: 'One more',
    inputSchema: { type: 'object' },
  })),
  nextCursor: String(start + ENDLESS),
})

const embedded = (uri: string, mimeType: string, words: string): Content => ({
  type: 'resource',
  resource: { uri, mimeType, text: words },
})
const image: Content = { type: 'image', data: PNG, mimeType: 'image/png' }

/** Tools that answer at once, one for each kind of content. */
const contentTools: readonly TestTool[] = [
  {
    name: 'test_simple_text',
    description: 'Says one text',
    inputSchema: object(),
    call: () => text('This is a simple text response for testing.'),
  },
  {
    name: 'test_image_content',
    description: 'Shows an image of one pixel',
    inputSchema: object(),
    call: () => ({ content: [image] }),
  },
  {
    name: 'test_audio_content',
    description: 'Plays eight silent samples',
    inputSchema: object(),
    call: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  },
  {
    name: 'test_embedded_resource',
    description: 'Embeds a resource',
    inputSchema: object(),
    call: () => ({
      content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
    }),
  },
  {
    name: 'test_multiple_content_types',
    description: 'Says a text, shows an image and embeds a resource',
    inputSchema: object(),
    call: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        image,
        embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  },
  {
    name: 'test_error_handling',
    description: 'Fails always',
    inputSchema: object(),
    call: () => ({ ...text('This tool intentionally returns an error for testing'), isError: true }),
  },
]

/** Answers with the arguments, and with what `structured` holds as structured content: a server can say anything. */
const echo = (args: Arguments) => ({
  ...text(JSON.stringify(args)),
  ...(isJsonObject(args.structured) ? { structuredContent: args.structured } : {}),
})

const address = {
  $anchor: 'addressDef',
  type: 'object',
  properties: { street: { type: 'string' }, city: { type: 'string' } },
}

/** Tools whose definitions are the point. `version`: of the definition of `changing`. */
const shapeTools = (version: () => number): readonly TestTool[] => [
  {
    name: 'json_schema_2020_12_tool',
    description: 'Tool with JSON Schema 2020-12 features',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { address },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      // As text: an object that is written with a member `then` looks like something to wait for.
      ...JSON.parse(
        `{"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
          "if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
          "then":{"required":["phone"]},"else":{"required":["email"]}}`,
      ),
      additionalProperties: false,
    },
    call: echo,
  },
  { name: 'echo', description: 'Answers with its arguments', inputSchema: { type: 'object' }, call: echo },
  {
    name: 'typed_output',
    description: 'Answers with structured content',
    inputSchema: object({ value: { type: 'integer' } }),
    outputSchema: object({ value: { type: 'integer' }, doubled: { type: 'integer' } }),
    call({ value }) {
      const structuredContent = { value, doubled: Number(value) * 2 }
      return { ...text(JSON.stringify(structuredContent)), structuredContent }
    },
  },
  {
    name: 'changing',
    get description() {
      return `Is defined anew whenever the tools are listed; this is version ${version()}`
    },
    inputSchema: object(),
    call: () => text(`Version ${version()}.`),
  },
]

const STEP_MS = 50
const MAX_MS = 600_000
const MAX_BYTES = 67_108_864

/** Tools that say something on their way, take their time, or say much. */
const timingTools: readonly TestTool[] = [
  {
    name: 'test_tool_with_logging',
    description: 'Logs three messages while it runs',
    inputSchema: object(),
    async call(_args, running) {
      running.log('info', 'Tool execution started')
      await running.wait(STEP_MS)
      running.log('info', 'Tool processing data')
      await running.wait(STEP_MS)
      running.log('info', 'Tool execution completed')
      return text('Logged three messages.')
    },
  },
  {
    name: 'test_tool_with_progress',
    description: 'Tells its progress three times',
    inputSchema: object(),
    async call(_args, running) {
      running.progress(0, 100)
      await running.wait(STEP_MS)
      running.progress(50, 100)
      await running.wait(STEP_MS)
      running.progress(100, 100)
      return text('Made progress three times.')
    },
  },
  {
    name: 'test_reconnection',
    description: 'Closes the stream of its call and answers on the one that the client opens then',
    inputSchema: object(),
    async call(_args, running) {
      running.letGo()
      await running.wait(STEP_MS)
      return text('Answered after the stream was closed.')
    },
  },
  {
    name: 'slow',
    description: 'Answers after some milliseconds',
    inputSchema: object({ ms: { type: 'integer', minimum: 0, maximum: MAX_MS } }),
    async call(args, running) {
      const ms = numberOf(args, 'ms', MAX_MS)
      await running.wait(ms)
      return text(`Took ${ms} ms.`)
    },
  },
  {
    name: 'big',
    description: 'Answers with so many bytes of text',
    inputSchema: object({ bytes: { type: 'integer', minimum: 0, maximum: MAX_BYTES } }),
    call: (args) => text('x'.repeat(numberOf(args, 'bytes', MAX_BYTES))),
  },
]

const string = { type: 'string' }

const missing = (path: string): ToolResult => ({ ...text(`There is no file ${path}.`), isError: true })

/** Tools with the names and arguments that agents use every day; files are kept in memory, and nothing else is really done. */
const deedTools = (): readonly TestTool[] => {
  const files = new Map<string, string>([['README.md', '# Test server\n']])
  const simulatedTool = (
    name: string,
    description: string,
    args: readonly string[],
    say: (values: readonly string[]) => string,
  ) => ({
    name,
    description,
    inputSchema: object(Object.fromEntries(args.map((arg) => [arg, string]))),
    call: (input: Readonly<Record<string, unknown>>) => text(say(args.map((arg) => stringOf(input, arg)))),
  })
  return [
    {
      name: 'read_file',
      description: 'Reads a file',
      inputSchema: object({ path: string }),
      call(args) {
        const path = stringOf(args, 'path')
        const content = files.get(path)
        return content === undefined ? missing(path) : text(content)
      },
    },
    {
      name: 'write_file',
      description: 'Writes a file',
      inputSchema: object({ path: string, content: string }),
      call(args) {
        const path = stringOf(args, 'path')
        const content = stringOf(args, 'content')
        files.set(path, content)
        return text(`Wrote ${Buffer.byteLength(content)} bytes to ${path}.`)
      },
    },
    {
      name: 'delete_file',
      description: 'Deletes a file',
      inputSchema: object({ path: string }),
      call(args) {
        const path = stringOf(args, 'path')
        return files.delete(path) ? text(`Deleted ${path}.`) : missing(path)
      },
    },
    simulatedTool('run_command', 'Runs a shell command', ['command'], ([command]) => `Would run: ${command}`),
    simulatedTool('http_request', 'Requests an address', ['url'], ([url]) => `Would request: ${url}`),
    simulatedTool('query', 'Asks a database', ['sql'], ([sql]) => `Would ask: ${sql}`),
    simulatedTool(
      'send_email',
      'Sends a message',
      ['to', 'subject', 'body'],
      ([to, subject]) => `Would send "${subject}" to ${to}.`,
    ),
    simulatedTool('web_search', 'Searches the web', ['query'], ([query]) => `Would search: ${query}`),
  ]
}
