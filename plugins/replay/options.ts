export interface ReplayOptions {
  /** Bytes of an ingest request, also inflated; 4 MiB if absent. */
  readonly max_body_bytes?: number
  /** Bytes of an import file, also inflated; 64 MiB if absent. */
  readonly max_import_bytes?: number
  /** Minutes without a request after which a session's next one begins a new run; 30 if absent. */
  readonly idle_timeout_minutes?: number
}
