import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { isJsonObject, type JsonObject } from '../../plugins/lib/json.ts'
import { listening } from './listening.ts'
import { type Answer, type Asked, chat, generateContent, messages, responses } from './replies.ts'

const styles: readonly (readonly [path: RegExp, answer: (asked: Asked) => Answer])[] = [
  [/\/chat\/completions$/, chat],
  [/\/messages$/, messages],
  [/\/responses$/, responses],
  [/:(?:stream)?[gG]enerateContent$/, generateContent],
]

/** A model provider on loopback: the first reply asks for a tool, the one after its result ends the work, and the model `gone` fails. */
export class RecordedProvider {
  readonly #server: Server = createServer((request, response) => void this.#answer(request, response))
  url = ''
  readonly #folder: string

  /** `folder`: where the agent works. */
  constructor(folder: string) {
    this.#folder = folder
  }

  async listen(): Promise<this> {
    this.url = await listening(this.#server)
    return this
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    const text = (await buffer(request)).toString('utf8')
    const style = styles.find(([pattern]) => pattern.test(path))
    if (style === undefined) return this.#send(response, { status: path === '/' ? 200 : 404, body: '{}' })
    const body = bodyOf(text)
    const isStream = body.stream === true || /streamGenerateContent/.test(path)
    const model = String(body.model ?? /models\/([^:]+):/.exec(path)?.[1] ?? 'gpt-5.4')
    if (model.includes('gone'))
      return this.#send(response, {
        status: 500,
        body: '{"type":"error","error":{"code":500,"type":"overloaded_error","message":"overloaded"}}',
      })
    return this.#send(response, style[1]({ body, text, model, isStream, folder: this.#folder }))
  }

  #send(response: ServerResponse, { status = 200, type = 'application/json', body }: Answer): void {
    response.writeHead(status, { 'content-type': type, 'request-id': 'req_1' }).end(body)
  }
}

const bodyOf = (text: string): JsonObject => {
  try {
    const body: unknown = JSON.parse(text)
    return isJsonObject(body) ? body : {}
  } catch {
    return {}
  }
}
