import type { Plain } from './snapshot.ts'

/** Facts about a span, an event or a trace. Objects are copied when given; what JSON cannot hold becomes text. */
export type Attributes = Readonly<Record<string, unknown>>

/** How a span ended: one of these, or another lower-case word of at most 32 characters. */
export type Status = 'ok' | 'error' | 'cancelled' | 'timeout' | 'blocked' | (string & {})

export type FailureTag = 'loop' | 'timeout' | 'rate_limit' | 'policy_block' | 'test_failure'

/** A text, number, boolean or null inside what is sent. */
export type Leaf = Exclude<Plain, object>

export interface GuardOptions {
  /** Address of the gateway; `GUARD_URL`, else `http://127.0.0.1:8787`. */
  readonly baseUrl?: string
  /** The gateway key; `GUARD_GATEWAY_KEY`. Ingestion needs none: it is hidden wherever it occurs in what is recorded. */
  readonly key?: string
  /** `GUARD_PROJECT`; the gateway's own default if neither is given. */
  readonly project?: string
  readonly agent?: string
  readonly sessionId?: string
  /** Called for each leaf that is sent, after the built-in redaction; where it fails or returns no leaf, the leaf is hidden. */
  readonly mask?: (value: Leaf, path: readonly (string | number)[]) => Leaf
  /** Told of everything that goes wrong inside the library: a GuardIngestError or a GuardUseError. Else one warning a kind and minute on stderr. */
  readonly onError?: (error: Error) => void
  /** Longest wait of a finished trace before it is sent, ms; 1000. */
  readonly flushMs?: number
  /** Spans and events that may wait; behind it the oldest go. 2048. */
  readonly maxQueue?: number
  /** Sends spans as they end, not with their trace. */
  readonly live?: boolean
  /** Longest wait of a failing `trace()`, of `flush()` and of one request, ms; 5000. */
  readonly ingestTimeoutMs?: number
  /** False records and sends nothing; also with `GUARD_DISABLED=1`. */
  readonly enabled?: boolean
  /** False leaves `beforeExit`, SIGINT and SIGTERM alone. */
  readonly handleExit?: boolean
  /** What carries requests; the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
}

export interface TraceOptions {
  readonly taskId?: string
  readonly sessionId?: string
  readonly agent?: string
  /** 1 to 128 of `A-Za-z0-9._:@/+=-`; 32 hex digits are made if absent. Only hex ids can be passed on in `traceparent`. */
  readonly traceId?: string
  readonly tags?: readonly string[]
  readonly attributes?: Attributes
  /** W3C header of a trace of someone else, to continue it: this trace's root then hangs below the span it names. */
  readonly traceparent?: string
}

export interface Artifact {
  readonly path: string
  readonly mimeType?: string
  /** Bytes. */
  readonly size?: number
  /** 64 hex digits. */
  readonly sha256?: string
  readonly attributes?: Attributes
}

/** One step of a trace. Calls behind its end do nothing and are reported once. */
export interface Span extends Disposable, AsyncDisposable {
  /** 16 hex digits. */
  readonly id: string
  readonly traceId: string
  event(name: string, attributes?: Attributes): void
  /** Adds to the attributes; a name that is there already is replaced. */
  set(attributes: Attributes): void
  status(status: Status, message?: string): void
  /** Marks the span as failed, with an `exception` event; a span from `start()` also ends. */
  fail(error: unknown): void
  /** A step below this one, also where the asynchronous context was lost. */
  span<T>(name: string, fn: (span: Span) => T): T
  span<T>(name: string, attributes: Attributes | undefined, fn: (span: Span) => T): T
  end(): void
}

/** A whole trace; as a span it is the root. */
export interface Trace extends Span {
  artifact(artifact: Artifact): void
  tag(...tags: readonly string[]): void
  failureTag(tag: FailureTag): void
}

/** Spans, events and artifacts, by what became of them. */
export interface Stats {
  /** Waiting, or on their way. */
  readonly queued: number
  readonly sent: number
  /** Given up because too many waited. */
  readonly dropped: number
  /** Refused by the gateway, or not taken in several tries. */
  readonly failed: number
}

export interface Guard {
  /** Runs `fn` as a trace and settles as it does; where it throws, after the trace was ingested, at most `ingestTimeoutMs` later. */
  trace<T>(name: string, fn: (trace: Trace) => T): Promise<Awaited<T>>
  trace<T>(name: string, options: TraceOptions | undefined, fn: (trace: Trace) => T): Promise<Awaited<T>>
  /** Runs `fn` as a step of the current span and returns what it returns; outside a trace, in a trace of its own. */
  span<T>(name: string, fn: (span: Span) => T): T
  span<T>(name: string, attributes: Attributes | undefined, fn: (span: Span) => T): T
  /** A span to end by hand, which never becomes the current one. */
  start(name: string, attributes?: Attributes, options?: { readonly parent?: Span | undefined }): Span
  current(): Span | undefined
  /** `fn`, each call of which is a span. */
  wrap<F extends (...args: never[]) => unknown>(fn: F, name?: string): F
  /** What tells the gateway where a request belongs: `traceparent` and the project, session and agent of the current context. */
  headers(): Record<string, string>
  /** `fetch` that adds `headers()` to requests to the gateway, and to no other. */
  readonly fetch: typeof globalThis.fetch
  /** Sends what has ended so far; resolves when it is settled, or after `ingestTimeoutMs`. Never rejects. */
  flush(): Promise<void>
  /** Ends open spans as cancelled, sends everything as `flush` does, stops timers and listeners. */
  close(): Promise<void>
  stats(): Stats
}
