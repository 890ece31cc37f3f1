import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A provider that keeps all that it makes in one account, whoever asks. */
export interface AccountProvider {
  readonly url: string
  /** `POST /v1/files`, in order. */
  readonly requests: string[]
  /** The next stream is cut after so many events. */
  cutAfter: number | undefined
  close(): Promise<void>
}

const messageOf = (id: string) => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  content: [],
  model: 'm-1',
  container: { id: `container_${id}` },
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
})

const created: readonly (readonly [path: RegExp, (id: string) => object])[] = [
  [/^POST \/v1\/conversations$/, (id) => ({ id: `conv_${id}`, object: 'conversation' })],
  [/^POST \/v1\/files$/, (id) => ({ id: `file-${id}`, object: 'file', purpose: 'user_data' })],
  [/^POST \/v1\/batches$/, (id) => ({ id: `batch_${id}`, object: 'batch', output_file_id: null })],
  [/^POST \/v1\/messages\/batches$/, (id) => ({ id: `msgbatch_${id}`, type: 'message_batch' })],
  [/^POST \/v1\/containers$/, (id) => ({ id: `cntr_${id}`, object: 'container' })],
  [/^POST \/v1\/vector_stores$/, (id) => ({ id: `vs_${id}`, object: 'vector_store' })],
  [/^POST \/v1\/evals$/, (id) => ({ id: `eval_${id}`, object: 'eval' })],
  [/^POST \/v1\/fine_tuning\/jobs$/, (id) => ({ id: `ftjob-${id}`, object: 'fine_tuning.job' })],
  [/^POST \/v1\/prompts$/, (id) => ({ id: `pmpt_${id}`, object: 'prompt' })],
  [/^POST \/v1beta\/cachedContents$/, (id) => ({ name: `cachedContents/cache${id}`, model: 'models/g' })],
]

type Body = Readonly<Record<string, unknown>>
type Event = { readonly type: string; readonly response?: object; readonly item?: unknown }

export const accountProvider = async (): Promise<AccountProvider> => {
  const requests: string[] = []
  let made = 0
  let cutAfter: number | undefined

  const responseOf = (id: string, { conversation, new_conversation }: Body) => {
    const named = conversation ?? (new_conversation === true ? `conv_in_${id}` : undefined)
    const call = { type: 'code_interpreter_call', id: `ci_${id}`, container_id: `cntr_in_${id}`, code: 'x' }
    return {
      id: `resp_${id}`,
      object: 'response',
      model: 'm-1',
      status: 'completed',
      output: [call],
      ...(named === undefined ? {} : { conversation: { id: named } }),
      usage: { input_tokens: 70, output_tokens: 8, total_tokens: 78 },
    }
  }

  const eventsOf = (whole: ReturnType<typeof responseOf>): readonly Event[] => {
    const begun = { ...whole, status: 'in_progress', output: [], usage: null }
    return [
      { type: 'response.created', response: begun },
      { type: 'response.in_progress', response: begun },
      { type: 'response.output_item.done', item: whole.output[0] },
      { type: 'response.completed', response: whole },
    ]
  }

  const stream = (response: ServerResponse, events: readonly Event[]): void => {
    const isCut = cutAfter !== undefined
    const sent = events.slice(0, cutAfter)
    cutAfter = undefined
    const text = sent.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(text, () => (isCut ? response.destroy() : response.end()))
  }

  const answers: readonly (readonly [request: RegExp, answer: (body: Body, id: string) => object])[] = [
    ...created.map(([path, make]) => [path, (_body: Body) => make(`${++made}`)] as const),
    [/^POST \/v1\/responses$/, (body) => responseOf(`${++made}`, body)],
    [/^GET \/v1\/responses\/resp_([^/]+)$/, (_body, id) => responseOf(id, {})],
    [/^GET \/v1\/batches\/(batch_\d+)$/, (_body, id) => ({ id, output_file_id: `file-of-${id}` })],
    [/^POST \/v1\/messages$/, () => messageOf(`${++made}`)],
    [/^POST \/v1\/chat\/completions$/, () => ({ id: `chatcmpl_${++made}`, choices: [] })],
    [/generateContent$/, () => ({ candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }] })],
    [/^/, () => ({ object: 'list', data: [] })],
  ]

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', url = '/' } = request
    requests.push(`${method} ${url}`)
    let text = ''
    for await (const chunk of request) text += chunk
    const body = text.startsWith('{') ? (JSON.parse(text) as Body) : {}
    const asked = `${method} ${decodeURIComponent(url.split('?', 1)[0] ?? '')}`
    const [pattern, answer] = answers.find(([request]) => request.test(asked)) ?? [/^/, () => ({})]
    const reply = answer(body, pattern.exec(asked)?.[1] ?? '')
    if (body.stream === true) stream(response, eventsOf(reply as ReturnType<typeof responseOf>))
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply))
  }

  const server = createServer((request, response) => void serve(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get cutAfter() {
      return cutAfter
    },
    set cutAfter(events) {
      cutAfter = events
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
