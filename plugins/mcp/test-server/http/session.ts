import type { ServerResponse } from 'node:http'
import type { Exchange } from '../exchange.ts'
import type { TestServer } from '../server.ts'
import { TestSession } from '../session.ts'
import { ResumableStream } from './streams.ts'

const NOISE = ': noise\n\nevent: noise\ndata: this is no message\n\n'
const ASIDE = 'aside'

/** One client over HTTP, with its streams by name. */
export class HttpSession {
  readonly session: TestSession
  readonly #streams = new Map<string, ResumableStream>()
  #opened = 0

  constructor(server: TestServer) {
    this.session = new TestSession(server)
  }

  /** The way back for one request: JSON if the answer comes first, else a stream; lists of tools always come as a stream. */
  exchange(response: ServerResponse, method: string | undefined): Exchange {
    let stream: ResumableStream | undefined
    const streamed = (): ResumableStream => {
      if (stream === undefined) {
        stream = this.#stream(`call${++this.#opened}`)
        stream.open(response, -1)
      }
      return stream
    }
    const noisy = this.session.server.misbehave === 'noise'
    const plain = !noisy && method !== 'tools/list'
    return {
      send(json, last) {
        if (last && stream === undefined && plain) {
          response.writeHead(200, { 'content-type': 'application/json' }).end(json)
          return
        }
        const way = streamed()
        if (noisy) way.scribble(NOISE)
        way.send(json)
        if (last) way.end()
      },
      release: () => streamed().letGo(),
      drop: () => void response.destroy(),
    }
  }

  /** Opens the client's own stream, or resumes one after an event; false if there is no such event. */
  listen(response: ServerResponse, lastEventId: string | undefined): boolean {
    if (lastEventId === undefined) {
      this.#stream(ASIDE).open(response, -1)
      return true
    }
    const [, name = '', index = ''] = /^(.*)-(\d+)$/.exec(lastEventId) ?? []
    const stream = this.#streams.get(name)
    stream?.open(response, Number(index))
    return stream !== undefined
  }

  end(): void {
    this.session.end()
    for (const stream of this.#streams.values()) stream.end()
  }

  #stream(name: string): ResumableStream {
    const stream = new ResumableStream(name)
    this.#streams.set(name, stream)
    return stream
  }
}
