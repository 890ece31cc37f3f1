import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { isJsonObject, listOf } from '../../plugins/lib/json.ts'
import { codecFor } from '../../plugins/otlp/codec.ts'
import { listening } from './listening.ts'

/** An OTLP receiver on loopback that keeps what is sent to it, whatever its path. */
export class Capture {
  readonly resourceSpans: unknown[] = []
  readonly #server: Server = createServer((request, response) => void this.#take(request, response))
  url = ''

  async listen(): Promise<this> {
    this.url = await listening(this.#server)
    return this
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const sent = await buffer(request)
    if (process.env.GUARD_SENDERS_DEBUG)
      process.stderr.write(`${request.url} ${request.headers['content-type']} ${sent.length}\n`)
    const codec = await codecFor(request.headers['content-type'])
    try {
      const data = await codec?.read(request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent)
      // logs and metrics in protobuf decode to something too, but not to spans with names
      if (/traces/.test(request.url ?? '') && isJsonObject(data)) this.resourceSpans.push(...listOf(data.resourceSpans))
    } catch (error) {
      process.stderr.write(`not understood at ${request.url}: ${error}\n`)
    }
    response.writeHead(200, { 'content-type': codec?.mediaType ?? 'application/json' })
    response.end(codec?.mediaType === 'application/x-protobuf' ? '' : '{}')
  }
}
