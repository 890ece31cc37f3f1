import { createInterface } from 'node:readline'
import { type Exchange, Failure, failure, readMessage } from './message.ts'
import type { TestServer } from './server.ts'
import { TestSession } from './session.ts'

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
  const exchange: Exchange = { send, release: () => {}, drop: () => client.gone() }
  for await (const line of createInterface({ input: client.in })) {
    const message = readMessage(line)
    if (message === undefined) send(failure(null, new Failure(-32700, 'This is no message.')))
    else void session.take(message, exchange)
  }
  session.end()
}
