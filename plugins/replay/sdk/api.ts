import type { Plain } from './snapshot.ts'

/** Attributes of a span, an event or a trace. Objects are copied when given. Values that JSON cannot hold become text. */
export type Attributes = Readonly<Record<string, unknown>>

/** Status of an ended span: one of these, or another lower-case word of at most 32 characters. */
export type Status = 'ok' | 'error' | 'cancelled' | 'timeout' | 'blocked' | (string & {})

export type FailureTag = 'loop' | 'timeout' | 'rate_limit' | 'policy_block' | 'test_failure'

/** A string, number, boolean or null in the sent data. */
export type Leaf = Exclude<Plain, object>

export interface GuardOptions {
  /** URL of the gateway. Default: `GUARD_URL`, then `http://127.0.0.1:8787`. */
  readonly baseUrl?: string
  /** The gateway key. Default: `GUARD_GATEWAY_KEY`. Ingestion does not need it; the SDK redacts it in all recorded data. */
  readonly key?: string
  /** Default: `GUARD_PROJECT`, then the default project of the gateway. */
  readonly project?: string
  readonly agent?: string
  readonly sessionId?: string
  /** Called for each sent leaf, after the built-in redaction. The leaf is redacted if the mask throws or does not return a leaf. */
  readonly mask?: (value: Leaf, path: readonly (string | number)[]) => Leaf
  /** Receives each internal error, a GuardIngestError or a GuardUseError. Default: at most one warning per kind and minute on stderr. */
  readonly onError?: (error: Error) => void
  /** Maximum delay between the end of a trace and its send, in ms. Default: 1000. */
  readonly flushMs?: number
  /** Maximum number of queued spans and events. A full queue drops the oldest. Default: 2048. */
  readonly maxQueue?: number
  /** Records the arguments that `tool()` is given. Default: false, since they are content. */
  readonly recordArguments?: boolean
  /** Sends each span when it ends, not with its trace. Default: false. */
  readonly live?: boolean
  /** Maximum wait of a failed `trace()`, of `flush()` and of one request, in ms. Default: 5000. */
  readonly ingestTimeoutMs?: number
  /** False: nothing is recorded or sent. Default: true, unless `GUARD_DISABLED` is `1`. */
  readonly enabled?: boolean
  /** False: no listeners for `beforeExit`, SIGINT and SIGTERM. Default: true. */
  readonly handleExit?: boolean
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
}

export interface TraceOptions {
  readonly taskId?: string
  readonly sessionId?: string
  readonly agent?: string
  /** 1 to 128 of `A-Za-z0-9._:@/+=-`. Default: 32 random hex digits. `traceparent` can carry hex ids only. */
  readonly traceId?: string
  readonly tags?: readonly string[]
  readonly attributes?: Attributes
  /** W3C header of another trace, which this trace continues. Its root becomes a child of the span in the header. */
  readonly traceparent?: string
}

export interface Artifact {
  readonly path: string
  readonly mimeType?: string
  /** In bytes. */
  readonly size?: number
  /** 64 hex digits. */
  readonly sha256?: string
  readonly attributes?: Attributes
}

/** One step of a trace. Calls after its end have no effect and are reported once. */
export interface Span extends Disposable, AsyncDisposable {
  /** 16 hex digits. */
  readonly id: string
  readonly traceId: string
  event(name: string, attributes?: Attributes): void
  /** Adds attributes. An existing name is replaced. */
  set(attributes: Attributes): void
  status(status: Status, message?: string): void
  /** Marks the span as failed and adds an `exception` event. A span from `start()` also ends. */
  fail(error: unknown): void
  /** Runs `fn` as a child of this span, even without the asynchronous context. */
  span<T>(name: string, fn: (span: Span) => T): T
  span<T>(name: string, attributes: Attributes | undefined, fn: (span: Span) => T): T
  end(): void
}

/** A call of a tool. `callId`: the id that the model gave it, by which the gateway knows the call too. */
export interface ToolCall {
  readonly name: string
  readonly callId?: string
}

/** A request to a model that does not pass the gateway. */
export interface ModelRequest {
  readonly model: string
  /** Such as `openai`. */
  readonly provider?: string
  /** `chat` if not said. */
  readonly operation?: string
}

/** Tokens of a request. Null and undefined: not known. */
export interface ModelUsage {
  /** All input, cached input included. */
  readonly input_tokens?: number | null | undefined
  /** Input that was read from a cache; part of `input_tokens`. */
  readonly cached_input_tokens?: number | null | undefined
  /** Input that was written into a cache; part of `input_tokens`. */
  readonly cache_write_input_tokens?: number | null | undefined
  /** The part of it that is kept for an hour. */
  readonly cache_write_1h_input_tokens?: number | null | undefined
  readonly output_tokens?: number | null | undefined
  /** Part of `output_tokens`. */
  readonly reasoning_tokens?: number | null | undefined
}

/** What a model says of its reply. */
export interface ModelResponse {
  /** The model that answered. */
  readonly model?: string | undefined
  readonly id?: string | undefined
  readonly finishReason?: string | undefined
  /** It decides which price applies. */
  readonly serviceTier?: string | undefined
}

/** A span of a request to a model. */
export interface ModelSpan extends Span {
  /** Reports tokens, also several times while a reply streams: the last count of each kind stays. */
  usage(usage: ModelUsage): void
  response(response: ModelResponse): void
}

/** A whole trace. As a span it is the root. */
export interface Trace extends Span {
  artifact(artifact: Artifact): void
  tag(...tags: readonly string[]): void
  failureTag(tag: FailureTag): void
}

/** Numbers of spans, events and artifacts. */
export interface Stats {
  /** Queued or in flight. */
  readonly queued: number
  readonly sent: number
  /** Dropped because the queue was full. */
  readonly dropped: number
  /** Refused by the gateway, or not stored after all retries. */
  readonly failed: number
  /** Sent, but no answer came in time: they may be stored. */
  readonly unknown: number
}

export interface Guard {
  /** Runs `fn` as a trace and settles like it. If `fn` throws, the promise rejects after the ingest, at most `ingestTimeoutMs` later. */
  trace<T>(name: string, fn: (trace: Trace) => T): Promise<Awaited<T>>
  trace<T>(name: string, options: TraceOptions | undefined, fn: (trace: Trace) => T): Promise<Awaited<T>>
  /** Runs `fn` as a child of the current span and returns its result. The span ends with it, a promise or a generator. Without a current span, `fn` gets a trace of its own. */
  span<T>(name: string, fn: (span: Span) => T): T
  span<T>(name: string, attributes: Attributes | undefined, fn: (span: Span) => T): T
  /** Runs `fn` as a call of a tool, below the current span. Arguments are recorded with `recordArguments` alone. */
  tool<T>(tool: string | ToolCall, fn: (span: Span) => T): T
  tool<T>(tool: string | ToolCall, args: unknown, fn: (span: Span) => T): T
  /** Runs `fn` as a request to a model, below the current span. If `fn` is a generator, the span ends with it. */
  model<T>(request: ModelRequest, fn: (span: ModelSpan) => T): T
  /** Starts a span that the caller must end. It never becomes the current span. */
  start(name: string, attributes?: Attributes, options?: { readonly parent?: Span | undefined }): Span
  current(): Span | undefined
  /** Returns a function that records each call of `fn` as a span. */
  wrap<F extends (...args: never[]) => unknown>(fn: F, name?: string): F
  /** Headers for a request to the gateway: `traceparent`, and the project, session and agent of the current context. */
  headers(): Record<string, string>
  /** A `fetch` that adds `headers()` to requests to the gateway, and to no others. */
  readonly fetch: typeof globalThis.fetch
  /** Sends everything that has ended. Resolves when all of it is settled, or after `ingestTimeoutMs`. Never rejects. */
  flush(): Promise<void>
  /** Ends open spans as cancelled, flushes, and stops timers and listeners. */
  close(): Promise<void>
  stats(): Stats
}
