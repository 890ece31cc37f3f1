/** Where spans are sent. */
export interface ReceiverOptions {
  /** `https://collector.example/v1/traces`; without a path, `/v1/traces`. */
  readonly url: string
  /** Sent with each request, by name; their values are never shown. */
  readonly headers?: Readonly<Record<string, string>>
  /** Address of the proxy on the way, with its login; `none` or absent: there is none. */
  readonly proxy?: string
  /** Authorities that are trusted beside those of Node: certificates as PEM. */
  readonly ca?: readonly string[]
  /** Ids of the projects whose spans are sent; all if absent. */
  readonly projects?: readonly string[]
  /** How long an answer may take; 10,000 if absent. */
  readonly timeout_ms?: number
  /** Spans that may wait; 2,048 if absent. Then the oldest are dropped. */
  readonly max_queue?: number
}
