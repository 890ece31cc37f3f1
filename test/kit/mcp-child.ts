import { createInterface } from 'node:readline'

/** An MCP server on standard input and output that does what a message asks it to. Flags: `--stay` ignores the end of its input and SIGTERM. */
const say = (message: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

if (process.argv.includes('--stay')) {
  process.on('SIGTERM', () => say({ method: 'notifications/message', params: { data: 'SIGTERM' } }))
  setInterval(() => {}, 1000)
}
process.stderr.write('child: started\n')

interface Asked {
  readonly id?: string | number
  readonly method?: string
  readonly params?: Readonly<Record<string, never>>
}

/** Ids and methods of what came, in its order. */
const seen: unknown[] = []
let asking: string | number | undefined

const doings: Readonly<Record<string, (asked: Asked, line: string) => void>> = {
  initialize: ({ id, params }) =>
    say({
      id,
      result: {
        protocolVersion: params?.protocolVersion,
        capabilities: {},
        serverInfo: { name: 'child', version: '1' },
      },
    }),
  'x/line': ({ id }, line) => say({ id, result: { line } }),
  'x/seen': ({ id }) => say({ id, result: seen }),
  'x/pid': ({ id }) => say({ id, result: { pid: process.pid } }),
  'x/env': ({ id }) => say({ id, result: process.env }),
  'x/exit': ({ params }) => process.exit(Number(params?.code ?? 0)),
  'x/noise': ({ id }) => {
    process.stdout.write('Listening on port 3000\n{"not":"a message"}\n\n')
    say({ id, result: {} })
  },
  'x/big': ({ id, params }) => say({ id, result: { text: 'x'.repeat(Number(params?.bytes ?? 0)) } }),
  'x/big-last-id': ({ id, params }) => {
    const text = 'x'.repeat(Number(params?.bytes ?? 0))
    const message = params?.asking ? { method: 'x', params: { text } } : { result: { text } }
    process.stdout.write(`${JSON.stringify({ ...message, jsonrpc: '2.0', id })}\n`)
  },
  'x/noise-of': ({ params }) => say({ method: 'x', params: { text: 'x'.repeat(Number(params?.bytes ?? 0)) } }),
  'x/split': ({ id }) => {
    const bytes = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, result: { text: '💥é' } })}\r\n`)
    const middle = bytes.indexOf(0xf0) + 2
    process.stdout.write(bytes.subarray(0, middle), () => process.stdout.write(bytes.subarray(middle)))
  },
  'x/progress': ({ id }) => {
    say({ method: 'notifications/progress', params: { progressToken: 'p', progress: 1 } })
    say({ method: 'notifications/message', params: { data: 'aside' } })
    say({ id, result: {} })
  },
  'x/ask': ({ id }) => {
    asking = id
    say({ id: 1, method: 'elicitation/create', params: {} })
  },
  'x/silent': () => {},
  'tools/call': ({ id, params }) => say({ id, result: { content: [], params } }),
}

const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const asked = JSON.parse(line) as Asked & { readonly result?: unknown }
  seen.push(asked.id ?? asked.method)
  const doing = asked.method === undefined ? undefined : doings[asked.method]
  if (doing !== undefined) doing(asked, line)
  else if (asked.method !== undefined && asked.id !== undefined) say({ id: asked.id, result: {} })
  else if (asked.method === undefined && asking !== undefined) say({ id: asking, result: { answered: asked.result } })
})
