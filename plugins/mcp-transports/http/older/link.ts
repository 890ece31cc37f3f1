import { cancelledKey, type Frame } from 'guard-gateway/lib/json-rpc'
import {
  type Lost,
  type McpLink,
  type McpReply,
  type McpServer,
  type McpSession,
  type PassedHeaders,
  ServerChannel,
  SessionSetup,
} from 'guard-gateway/lib/mcp-transport'
import { replyWithout } from '../no-reply.ts'
import { OtherServer } from './endpoint.ts'
import { NoStream, OlderStream, type Refused } from './stream.ts'

type Failed = McpReply & { form: 'failed' }

/**
 * The way to a server over HTTP+SSE, the transport of the revision 2024-11-05: one stream for all that it says, and an endpoint for messages.
 * Nothing in the stream can be asked for again: where it breaks off, what waits fails, and the next message opens another one and sets the session up anew.
 */
export class OlderLink implements McpLink {
  readonly lost: Promise<Lost>
  /** The server has named an endpoint: it speaks this transport. */
  isSpoken = false
  readonly #server: McpServer
  readonly #session: McpSession
  readonly #setup = new SessionSetup()
  readonly #channel: ServerChannel
  readonly #lose: (lost: Lost) => void
  #stream: OlderStream | undefined
  #opening: Promise<void> | undefined
  #over = false

  constructor(server: McpServer, session: McpSession) {
    this.#server = server
    this.#session = session
    this.#channel = new ServerChannel(session, {
      pause: () => this.#stream?.pause(),
      resume: () => this.#stream?.resume(),
      consumes: (frame) => this.#setup.consumes(frame),
    })
    const { promise, resolve } = Promise.withResolvers<Lost>()
    this.lost = promise
    this.#lose = resolve
  }

  async post(frame: Frame, passed: PassedHeaders = {}): Promise<McpReply> {
    try {
      const first = await this.#opened(passed)
      const done = await this.#sent(first, frame, passed)
      if (!('gone' in done)) return done
      if (!done.gone || !this.#setup.isComplete) return done.reply
      // the stream has broken off, and that was not heard of before
      this.#streamLost(first, { reason: 'The MCP server knows the session no more' })
      first.close('The MCP server knows the session no more')
      const again = await this.#sent(await this.#opened(passed), frame, passed)
      return 'gone' in again ? again.reply : again
    } catch (error) {
      return error instanceof NoStream ? error.reply : replyWithout(error)
    }
  }

  /** Sends a message, and waits for the answer to a request. */
  async #sent(stream: OlderStream, frame: Frame, passed: PassedHeaders): Promise<McpReply | Refused> {
    this.#setup.note(frame)
    if (frame.kind !== 'request' || this.#session.merged) return this.#told(stream, frame, passed)
    const exchange = this.#channel.begin(frame)
    // an answer that is there already counts
    const isOpen = () => this.#channel.take(exchange.key) === exchange
    const refused = await stream.post(frame.raw, passed).catch((error: unknown) => {
      if (isOpen()) throw error
    })
    return refused !== undefined && isOpen() ? refused : exchange.reply
  }

  async listen(lastEventId?: string, passed: PassedHeaders = {}): Promise<McpReply> {
    // nothing here has an id, so nothing can be asked for again
    if (lastEventId !== undefined) return { form: 'none', status: 405 }
    const reply = this.#channel.listen()
    if (reply.form === 'sse') await this.#opened(passed).catch(() => {})
    return reply
  }

  async end(): Promise<void> {
    this.#ended({ reason: 'The session has ended' })
  }

  async #told(stream: OlderStream, frame: Frame, passed: PassedHeaders): Promise<McpReply | Refused> {
    const refused = await stream.post(frame.raw, passed)
    this.#channel.take(cancelledKey(frame) ?? '')?.cancel()
    return refused ?? { form: 'none', status: 202 }
  }

  /** The stream; where there is none any more, another one with the session set up. */
  async #opened(passed: PassedHeaders): Promise<OlderStream> {
    if (this.#stream === undefined && !this.#over) {
      this.#opening ??= this.#open(passed).finally(() => {
        this.#opening = undefined
      })
    }
    await this.#opening
    if (this.#over) throw new NoStream(failed(await this.lost))
    if (this.#stream === undefined) throw new Error('The MCP server closed its stream at once.')
    return this.#stream
  }

  async #open(passed: PassedHeaders): Promise<void> {
    const stream = await OlderStream.open(
      this.#server,
      this.#session,
      {
        onFrame: (frame) => this.#channel.message(frame),
        onFault: (fault) => this.#channel.invalidMessage(fault),
      },
      passed,
    ).catch((error: unknown) => {
      this.isSpoken ||= error instanceof OtherServer
      throw error
    })
    this.isSpoken = true
    void stream.lost.then((lost) => this.#streamLost(stream, lost))
    const refused = this.#setup.isComplete ? await this.#setup.replay(receiverOf(stream, passed)) : undefined
    if (refused !== undefined) {
      stream.close(refused)
      throw new Error(`The MCP server did not take the session up again: ${refused}.`)
    }
    if (this.#over) stream.close('The session has ended')
    else if (!stream.ended) this.#stream = stream
  }

  #streamLost(stream: OlderStream, lost: Lost): void {
    if (this.#stream !== stream) return
    this.#stream = undefined
    this.#channel.fail(failed({ reason: `${lost.reason} before it answered` }))
    // who has not even begun has nothing to take up
    if (!this.#setup.isComplete) this.#ended(lost)
  }

  #ended(lost: Lost): void {
    if (this.#over) return
    this.#over = true
    this.#channel.end(failed(lost))
    this.#stream?.close(lost.reason)
    this.#lose(lost)
  }
}

const receiverOf = (stream: OlderStream, passed: PassedHeaders) => ({
  lost: stream.lost,
  async send(message: Buffer): Promise<void> {
    const refused = await stream.post(message, passed)
    if (refused !== undefined) throw new NoStream(refused.reply)
  },
})

const failed = ({ reason }: Lost): Failed => ({
  form: 'failed',
  status: 502,
  code: 'UPSTREAM_UNREACHABLE',
  message: `${reason}.`,
})
