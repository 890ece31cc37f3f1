import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { chatReply, geminiReply, messagesReply, responsesReply, type WholeReply } from '../kit/replies.ts'
import type { Call, Tools } from './agent.ts'
import { serveSockets } from './provider-sockets.ts'
import { chatCall, geminiCall, messagesCall, responsesCall, type ToolCall } from './replies.ts'
import { type RequestShape, shapeOf } from './request-shape.ts'
import type { Script, Step } from './scripts.ts'

export const LAST_WORDS = 'Everything is finished.'
/** A loop that nobody stops ends behind so many turns. */
const LOOP_END = 40

/** A provider on loopback whose model works on a script with an agent's own tools, and what it was asked. */
export class AgentProvider {
  readonly keys = new Set<string>()
  /** What each request looked like, without what it said. */
  readonly shapes: RequestShape[] = []
  /** Tokens of each prompt that a cache has, as replies tell it; undefined: they tell nothing of a cache. */
  cached: number | undefined
  #script: Script | undefined
  #tools: Tools | undefined
  #project = ''
  #step = 0
  #polls = 0
  #asked = 0
  #requests = 0
  #sockets = 0
  #said = ''
  readonly #server = createServer((request, response) => void this.#answer(request, response))

  async listen(): Promise<string> {
    serveSockets(
      this.#server,
      () => this.#sockets++,
      (text, said) => {
        const style = styleOf('/responses') as Style
        this.#requests++
        const step = this.#stepFor(text, said)
        if (step.next?.act === 'fail') return { status: step.next.status, body: UNAVAILABLE }
        return { events: this.#reply(style, true, step.hasTools, step.shown, said).body, isCut: step.isCut }
      },
    )
    this.#server.listen(0, '127.0.0.1')
    await new Promise((resolve) => this.#server.once('listening', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Begins a script, in a folder that the agent works in. */
  begin(script: Script, tools: Tools, project: string): void {
    this.#script = script
    this.#tools = tools
    this.#project = project
    this.#step = 0
    this.#polls = 0
    this.#asked = 0
    this.#requests = 0
    this.#sockets = 0
  }

  /** Requests with the agent's tools since the script began. */
  get asked(): number {
    return this.#asked
  }

  /** Requests to a model since the script began. */
  get requests(): number {
    return this.#requests
  }

  /** WebSockets that agents have opened since the script began. */
  get sockets(): number {
    return this.#sockets
  }

  /** The last request with the agent's tools. */
  get said(): string {
    return this.#said
  }

  /** Whether every step was made. */
  get isThrough(): boolean {
    return this.#script?.loops === undefined && this.#step >= (this.#script?.steps.length ?? 0)
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { authorization, 'x-api-key': key, 'x-goog-api-key': google } = request.headers
    for (const shown of [authorization, key, google]) if (typeof shown === 'string') this.keys.add(shown)
    const text = (await buffer(request)).toString()
    this.shapes.push(shapeOf(request, text))
    const style = styleOf(request.url ?? '')
    if (style === undefined) {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":42,"data":[]}')
      return
    }
    this.#requests++
    const { stream = style.streams === true } = JSON.parse(text) as Body
    const { next, shown, hasTools, isCut } = this.#stepFor(text, text)
    if (next?.act === 'fail') {
      response.writeHead(next.status, { 'content-type': 'application/json' }).end(UNAVAILABLE)
      return
    }
    const { type, body } = this.#reply(style, stream, hasTools, shown, text)
    response.writeHead(200, { 'content-type': type })
    if (isCut) response.write(halfOf(body), () => response.destroy())
    else response.end(body)
  }

  /** What happens now, and what the reply shows of it; `said`: all that the conversation holds. */
  #stepFor(text: string, said: string) {
    const { tools = [] } = JSON.parse(text) as Body
    const has = (name: string) => tools.some((tool) => namesOf(tool).includes(name))
    const hasTools = this.#tools !== undefined && has(this.#tools.shell('').name)
    const next = hasTools ? this.#next(said) : undefined
    const isCut = next?.act === 'cut'
    return { next, hasTools, isCut, shown: isCut ? this.#peek() : next }
  }

  #reply(style: Style, stream: boolean, hasTools: boolean, step: Step | undefined, said: string): WholeReply {
    const call = step === undefined ? this.#last(hasTools) : this.#call(step, said)
    if (call === undefined) return style.words(stream, hasTools ? LAST_WORDS : 'A task')
    // every turn is longer than the one before, as it is with real models
    return style.call(stream, {
      ...call,
      id: `call_${this.#asked}`,
      tokens: 1000 + 10 * this.#asked,
      ...(this.cached === undefined ? {} : { cached: this.cached }),
    })
  }

  #last(hasTools: boolean): Call | undefined {
    return hasTools ? this.#tools?.finish?.(LAST_WORDS) : undefined
  }

  #next(said: string): Step | undefined {
    this.#asked++
    this.#said = said
    const { steps, loops } = this.#script ?? { steps: [] }
    const step = this.#step++
    return loops !== undefined && step < LOOP_END ? steps[step % steps.length] : steps[step]
  }

  #peek(): Step | undefined {
    return this.#script?.steps[this.#step]
  }

  #call(step: Step, said: string): Call | undefined {
    const tools = this.#tools
    switch (step.act) {
      case 'shell':
        return tools?.shell(step.command)
      case 'read':
        return tools?.read(join(this.#project, step.file))
      case 'edit':
        return tools?.edit({ ...step, file: join(this.#project, step.file) })
      case 'background':
        return tools?.background(step.command)
      case 'delegate':
        return tools?.delegate?.(step.task)
      case 'poll':
        return tools?.poll(said, this.#polls++)
      default:
        return undefined
    }
  }
}

/** The events of the first half. */
const halfOf = (body: string): string => {
  const [...ends] = body.slice(0, body.length / 2).matchAll(/\r?\n\r?\n/g)
  const last = ends.at(-1)
  return last === undefined ? '' : body.slice(0, last.index + last[0].length)
}

interface Body {
  readonly stream?: boolean
  readonly tools?: readonly Tool[]
}

interface Named {
  readonly name?: string
}
type Tool = Named & { readonly function?: Named; readonly functionDeclarations?: readonly Named[] }

const namesOf = ({ name, function: inner, functionDeclarations = [] }: Tool): readonly (string | undefined)[] => [
  name ?? inner?.name,
  ...functionDeclarations.map((one) => one.name),
]

const UNAVAILABLE = '{"type":"error","error":{"type":"api_error","message":"Service Unavailable"}}'

interface Style {
  readonly ending: string
  /** Its path says that it streams. */
  readonly streams?: boolean
  readonly words: (stream: boolean, text: string) => WholeReply
  readonly call: (stream: boolean, call: ToolCall) => WholeReply
}

const styles: readonly Style[] = [
  { ending: ':generateContent', words: geminiReply, call: geminiCall },
  { ending: ':streamGenerateContent', streams: true, words: geminiReply, call: geminiCall },
  { ending: '/messages', words: messagesReply, call: messagesCall },
  { ending: '/responses', words: responsesReply, call: responsesCall },
  { ending: '/chat/completions', words: chatReply, call: chatCall },
]

const styleOf = (path: string): Style | undefined =>
  styles.find(({ ending }) => path.replace(/\?.*$/, '').endsWith(ending))
