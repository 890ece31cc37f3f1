import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { chatReply, messagesReply, responsesReply, type WholeReply } from '../kit/replies.ts'
import { chatCall, messagesCall, responsesCall, type ToolCall } from './replies.ts'

/** `loop`: the same tool call for ever. `work`: another one each turn, then an answer. */
export type Story = 'loop' | 'work'

export const LAST_WORDS = 'Everything is finished.'
const WORK_TURNS = 8

/** A provider on loopback that keeps an agent busy, and what it was asked. */
export class AgentProvider {
  readonly authorizations = new Set<string>()
  #story: Story = 'loop'
  #asked = 0
  readonly #server = createServer((request, response) => void this.#answer(request, response))

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await new Promise((resolve) => this.#server.once('listening', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Begins a story anew. */
  tell(story: Story): void {
    this.#story = story
    this.#asked = 0
  }

  /** Requests with tools since the story began. */
  get asked(): number {
    return this.#asked
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { authorization, 'x-api-key': key } = request.headers
    for (const shown of [authorization, key]) if (typeof shown === 'string') this.authorizations.add(shown)
    const text = (await buffer(request)).toString()
    const { type, body } = this.#reply(request.url ?? '', text === '' ? {} : JSON.parse(text))
    response.writeHead(200, { 'content-type': type }).end(body)
  }

  #reply(path: string, body: Body): WholeReply {
    const style = styleOf(path)
    if (style === undefined) return { type: 'application/json', body: '{"input_tokens":42,"data":[]}' }
    const call = this.#call(body)
    const stream = body.stream === true
    return call === undefined ? style.words(stream, LAST_WORDS) : style.call(stream, call)
  }

  /** The next tool call; undefined where the request has no tools or the work is done. */
  #call(body: Body): ToolCall | undefined {
    const tool = shellIn(body.tools ?? [])
    if (tool === undefined) return undefined
    this.#asked++
    if (this.#story === 'work' && this.#asked > WORK_TURNS) return undefined
    const command = this.#story === 'loop' ? 'echo the same again' : `echo step ${this.#asked}`
    return { id: `call_${this.#asked}`, name: tool, args: argsFor(tool, command) }
  }
}

interface Body {
  readonly stream?: boolean
  readonly tools?: readonly { readonly name?: string; readonly function?: { readonly name?: string } }[]
}

const styles = [
  { ending: '/messages', words: messagesReply, call: messagesCall },
  { ending: '/responses', words: responsesReply, call: responsesCall },
  { ending: '/chat/completions', words: chatReply, call: chatCall },
]

const styleOf = (path: string) => styles.find(({ ending }) => path.replace(/\?.*$/, '').endsWith(ending))

const shells = ['Bash', 'bash', 'exec_command', 'shell_command', 'shell']

const shellIn = (tools: NonNullable<Body['tools']>): string | undefined => {
  const names = new Set(tools.map((tool) => tool.name ?? tool.function?.name))
  return shells.find((name) => names.has(name))
}

const argsFor = (tool: string, command: string): object => {
  if (tool === 'exec_command') return { cmd: command }
  if (tool === 'shell') return { command: ['bash', '-lc', command] }
  return { command, description: 'Prints a line' }
}
