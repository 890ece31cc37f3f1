import { text } from 'node:stream/consumers'
import { errorBody, GuardError } from 'guard-gateway/core'
import type { Answered, AskStream, Input, Io } from '#lib/command'
import { LineReader, LineWriter, readFrame } from '#lib/json-rpc'

const PATH = '/mcp/replay'
/** The largest message of a client; questions are short. */
const MAX_LINE = 1_048_576

/** Relays lines of a client to `/mcp/replay` and answers back, until its input ends. Resolves to the exit code. */
export const serveStdio = async (ask: AskStream, key: string, input: Input, io: Io): Promise<number> => {
  const out = new LineWriter(io.out)
  const client = new Client(ask, headersOf(key, input))
  const under = new Set<Promise<void>>()
  /** Requests wait for the answer to `initialize`, which names the session. */
  let opened: Promise<unknown> = Promise.resolve()
  const take = (line: Buffer): void => {
    const frame = readFrame(line, 'client')
    const isFirst = frame.kind === 'request' && frame.method === 'initialize'
    const send = async (): Promise<void> => {
      for (const message of await client.send(line.toString(), frame.kind === 'request' ? frame.id : undefined))
        await out.write(message)
    }
    const sending = isFirst ? send() : opened.then(send)
    if (isFirst) opened = sending
    under.add(sending)
    void sending.finally(() => under.delete(sending))
  }
  const lines = new LineReader(MAX_LINE, take, () => io.err.write('[guard] a message is too long and was dropped\n'))
  for await (const chunk of io.in ?? process.stdin) lines.push(chunk as Buffer)
  lines.end()
  await Promise.all(under)
  await client.end()
  return 0
}

const headersOf = (key: string, { options }: Input): Readonly<Record<string, string>> => {
  const named = {
    'x-guard-project-id': options.project,
    'x-guard-agent-id': options.agent,
    'x-guard-session-id': options.session,
  }
  return {
    authorization: `Bearer ${key}`,
    accept: 'application/json, text/event-stream',
    ...Object.fromEntries(
      Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
    ),
  }
}

/** The session of one client at the gateway. */
class Client {
  readonly #ask: AskStream
  readonly #headers: Readonly<Record<string, string>>
  #session: Readonly<Record<string, string>> = {}

  constructor(ask: AskStream, headers: Readonly<Record<string, string>>) {
    this.#ask = ask
    this.#headers = headers
  }

  /** Sends one message; gives what comes for it. Never rejects: `id` is that of a request, whose answer then says what went wrong. */
  async send(message: string, id: string | undefined): Promise<readonly string[]> {
    try {
      const answer = await this.#ask('POST', PATH, message, { ...this.#headers, ...this.#session })
      const session = answer.headers?.['mcp-session-id']
      if (typeof session === 'string') this.#session = { 'mcp-session-id': session }
      return messagesIn(answer)
    } catch (error) {
      return id === undefined ? [] : [failure(id, error)]
    }
  }

  async end(): Promise<void> {
    if (this.#session['mcp-session-id'] === undefined) return
    // the session ends by itself when the gateway is gone
    await this.#ask('DELETE', PATH, undefined, { ...this.#headers, ...this.#session }).then(text, () => '')
  }
}

/** JSON-RPC messages of a body: the whole of it, or the data of its events. */
const messagesIn = async (answer: Answered): Promise<readonly string[]> => {
  const body = (await text(answer)).trim()
  if (body === '') return []
  if (!String(answer.headers?.['content-type'] ?? '').startsWith('text/event-stream')) return [body]
  return body.split(/\r?\n\r?\n/).flatMap((event) => {
    const data = event.split(/\r?\n/).flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trimStart()] : []))
    return data.length === 0 ? [] : [data.join('\n')]
  })
}

const failure = (id: string, error: unknown): string => {
  const { code, message } =
    error instanceof GuardError ? errorBody(error) : { code: 'INTERNAL', message: 'The gateway did not answer.' }
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code: -32603, message: `${code}: ${message}` })}}`
}
