export interface ReplayOptions {
  /** Bytes of an ingest request, also inflated; 4 MiB if absent. */
  readonly max_body_bytes?: number
}
