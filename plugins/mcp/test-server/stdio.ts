import { LineReader } from 'guard-gateway/core'
import type { Exchange } from './exchange.ts'
import { Failure, failure, readMessage } from './message.ts'
import type { TestServer } from './server.ts'
import { TestSession } from './session.ts'

const MAX_LINE = 67_108_864
const NOISE = 'Server is listening\n'

/** Where a client is: the two pipes, and what to do when the server goes away in the middle. */
export interface StdioClient {
  readonly in: NodeJS.ReadableStream
  readonly out: NodeJS.WritableStream
  gone(): void
}

/** Serves one client, a message a line; resolves when its input has ended. */
export const serveStdio = async (server: TestServer, client: StdioClient): Promise<void> => {
  const session = new TestSession(server)
  const noise = server.misbehave === 'noise' ? NOISE : ''
  const send = (json: string) => void client.out.write(`${noise}${json}\n`)
  const exchange: Exchange = { send, letGo: () => {}, drop: () => client.gone() }
  const refuse = (message: string) => send(failure(null, new Failure(-32700, message)))
  const lines = new LineReader(
    MAX_LINE,
    (line) => {
      const message = readMessage(line.toString())
      if (message === undefined) refuse('This is no message.')
      else void session.take(message, exchange)
    },
    () => refuse('The line is too long.'),
  )
  for await (const chunk of client.in) lines.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  lines.end()
  session.end()
}
