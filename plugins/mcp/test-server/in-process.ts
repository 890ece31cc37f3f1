import { PassThrough } from 'node:stream'
import { type Frame, readFrame } from '#lib/json-rpc'
import type { Lost, McpLink, McpReply, McpTransport, StreamEvent } from '#lib/mcp-transport'
import { type Exchange, readMessage } from './message.ts'
import type { TestSession } from './session.ts'

/** The way to a test server inside this process, a new one for each session: no program is started and no socket opened. */
export const inProcess: McpTransport = {
  id: 'playground',
  async open() {
    const [{ TestServer }, { TestSession }] = await Promise.all([import('./server.ts'), import('./session.ts')])
    return new InProcessLink(new TestSession(new TestServer()))
  },
}

const nowhere: Exchange = { send: () => {}, release: () => {}, drop: () => {} }

class InProcessLink implements McpLink {
  readonly #lost = Promise.withResolvers<Lost>()
  readonly lost = this.#lost.promise
  readonly #session: TestSession

  constructor(session: TestSession) {
    this.#session = session
  }

  async post(frame: Frame): Promise<McpReply> {
    const message = readMessage(frame.text)
    if (message === undefined) return { form: 'none', status: 400 }
    if (frame.kind !== 'request') {
      await this.#session.take(message, nowhere)
      return { form: 'none', status: 202 }
    }
    const events = new PassThrough({ objectMode: true })
    void this.#session.take(message, {
      send(json, last) {
        events.write(eventOf(json))
        if (last) events.end()
      },
      release: () => {},
      drop: () => void events.end(),
    })
    return { form: 'sse', events, stop: () => void events.destroy() }
  }

  /** Nothing is said unasked. */
  async listen(): Promise<McpReply> {
    return { form: 'none', status: 405 }
  }

  async end(): Promise<void> {
    this.#session.end()
    this.#lost.resolve({ reason: 'The session has ended.' })
  }
}

const eventOf = (json: string): StreamEvent => {
  const frame = readFrame(Buffer.from(json), 'server')
  return frame.kind === 'fault' ? { fault: frame } : { frame }
}
