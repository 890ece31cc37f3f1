import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'

/** How one request is answered; without a word it is stored and answered with 201 or 200. */
export interface IngestScript {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Body of the answer, as JSON. */
  readonly json?: unknown
  /** The connection breaks before anything is stored. */
  readonly reset?: boolean
  /** Stored, but the connection breaks before the answer. */
  readonly lose?: boolean
  /** Stored; the answer breaks off in its middle. */
  readonly cut?: boolean
  /** Stored and answered when this has come. */
  readonly until?: Promise<unknown>
}

export interface SentSpan {
  readonly id: string
  readonly parent_id?: string
  readonly name: string
  readonly status?: string
  readonly status_message?: string
  readonly start_ns?: string
  readonly end_ns?: string
  readonly attributes?: Readonly<Record<string, unknown>>
}
export interface SentEvent {
  readonly id: string
  readonly span_id?: string
  readonly name: string
  readonly time_ns?: string
  readonly attributes?: Readonly<Record<string, unknown>>
}
export interface SentArtifact {
  readonly id: string
  readonly span_id?: string
  readonly path: string
  readonly mime_type?: string
  readonly size?: number
  readonly sha256?: string
}
export interface SentTrace {
  readonly trace_id: string
  readonly name?: string
  readonly status?: string
  readonly project_id?: string
  readonly session_id?: string
  readonly task_id?: string
  readonly agent_name?: string
  readonly failure_tag?: string
  readonly tags?: readonly string[]
  readonly attributes?: Readonly<Record<string, unknown>>
  readonly spans?: readonly SentSpan[]
  readonly events?: readonly SentEvent[]
  readonly artifacts?: readonly SentArtifact[]
}

/** A run as it stands after merging what was sent: records by id, given fields replacing earlier ones. */
export interface KeptRun {
  fields: Omit<SentTrace, 'spans' | 'events' | 'artifacts'>
  readonly spans: Map<string, SentSpan>
  readonly events: Map<string, SentEvent>
  readonly artifacts: Map<string, SentArtifact>
}

export interface IngestRequest {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly text: string
  readonly trace: SentTrace
}

/** A server that takes traces as the gateway documents it, keeps them in memory and fails when told to. */
export class IngestServer {
  readonly requests: IngestRequest[] = []
  readonly runs = new Map<string, KeptRun>()
  readonly #scripts: IngestScript[] = []
  #always: IngestScript = {}
  readonly #sockets = new Set<Socket>()
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = []
  readonly #server = createServer((request, response) => void this.#take(request, response))

  constructor() {
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }
  /** How the next requests are answered, one after another. */
  script(...scripts: readonly IngestScript[]): this {
    this.#scripts.push(...scripts)
    return this
  }
  /** How requests without a script of their own are answered. */
  always(script: IngestScript): this {
    this.#always = script
    return this
  }
  /** Resolves when so many requests have come in all. */
  async received(count: number): Promise<void> {
    if (this.requests.length >= count) return
    await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }))
  }
  /** The run of this id, else the only one. */
  run(trace_id?: string): KeptRun {
    const run =
      trace_id === undefined && this.runs.size === 1 ? [...this.runs.values()][0] : this.runs.get(trace_id ?? '')
    if (run === undefined) throw new Error(`no such run; there are ${this.runs.size}`)
    return run
  }
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const trace = JSON.parse(body) as SentTrace
    this.requests.push({ path: request.url ?? '', headers: request.headers, text: body, trace })
    for (const { count, resolve } of this.#waiting) if (count <= this.requests.length) resolve()
    const script = this.#scripts.shift() ?? this.#always
    await script.until
    if (script.reset === true) return void request.socket.destroy()
    const status = script.status ?? (this.runs.has(trace.trace_id) ? 200 : 201)
    if (status < 300) this.#store(trace)
    if (script.lose === true) return void request.socket.destroy()
    const answer = JSON.stringify(script.json ?? { trace_id: trace.trace_id, warnings: [] })
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(answer),
      ...script.headers,
    })
    if (script.cut !== true) return void response.end(answer)
    response.write(answer.slice(0, 5), () => request.socket.destroy())
  }

  #store({ spans = [], events = [], artifacts = [], ...fields }: SentTrace): void {
    const run = this.runs.get(fields.trace_id) ?? {
      fields,
      spans: new Map(),
      events: new Map(),
      artifacts: new Map(),
    }
    this.runs.set(fields.trace_id, run)
    run.fields = { ...run.fields, ...fields }
    for (const span of spans) run.spans.set(span.id, { ...run.spans.get(span.id), ...span })
    for (const event of events) run.events.set(event.id, { ...run.events.get(event.id), ...event })
    for (const artifact of artifacts) run.artifacts.set(artifact.id, artifact)
  }
}

/** An ingest server that listens on a port of the system's choice. */
export const ingestServer = (): Promise<IngestServer> => new IngestServer().listen()

/** The one span, or event, of that name in a run. */
export const named = <T extends { readonly name: string }>(records: ReadonlyMap<string, T>, name: string): T => {
  const found = [...records.values()].filter((record) => record.name === name)
  const [first] = found
  if (first === undefined || found.length > 1) throw new Error(`${found.length} records are named ${name}`)
  return first
}
