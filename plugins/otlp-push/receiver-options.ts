export interface ReceiverOptions {
  /** `https://collector.example/v1/traces`; without a path, `/v1/traces`. */
  readonly url: string
  /** Headers of each request; their values are secret. */
  readonly headers?: Readonly<Record<string, string>>
  /** Proxy address with its login; `none` or absent: no proxy. */
  readonly proxy?: string
  /** Extra trusted certificates, as PEM. */
  readonly ca?: readonly string[]
  /** Project ids whose spans are exported; all if absent. */
  readonly projects?: readonly string[]
  /** Content encoding of the bodies; `gzip` if absent. Some receivers read plain bodies only. */
  readonly compression?: 'gzip' | 'none'
  /** Response timeout; 10,000 if absent. */
  readonly timeout_ms?: number
  /** Limit of the queue in spans; 2,048 if absent. A full queue drops its oldest spans. */
  readonly max_queue?: number
}

/** Where records of the audit go: to a receiver, or into a file. */
export type AuditPlace = ReceiverOptions | FileOptions

export interface FileOptions {
  /** Absolute. Made with mode 0600 if it is not there; lines are appended. */
  readonly file: string
  /** Project ids whose records go there; all if absent. */
  readonly projects?: readonly string[]
  /** Limit of the queue in records; 2,048 if absent. */
  readonly max_queue?: number
}
