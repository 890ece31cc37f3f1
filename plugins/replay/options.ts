export interface ReplayOptions {
  /** Bytes of an ingest request, also inflated; 4 MiB if absent. */
  readonly max_body_bytes?: number
  /** Bytes of an import file, also inflated; 64 MiB if absent. */
  readonly max_import_bytes?: number
  /** Bytes that runs which are written to may take in memory, about; 32 MiB if absent. Longest unused ones are read from storage again. */
  readonly max_open_bytes?: number
  /** Path of the price file; without one, or with an empty one, everything costs 0. */
  readonly pricing?: string
  /** Minutes without a request after which a session's next one begins a new run; 30 if absent. */
  readonly idle_timeout_minutes?: number
  readonly retention?: Retention
}

/** How much is kept; null: without limit. Pinned runs stay, and so do those somebody may still write to: written within the hour, or running and written within the day. */
export interface Retention {
  /** Days since a run was recorded; 30 if absent. */
  readonly days?: number | null
  /** 100,000 if absent. */
  readonly max_runs?: number | null
  /** Bytes of the whole store; 2 GiB if absent. */
  readonly max_bytes?: number | null
  /** Days that records of MCP decisions stay behind their run; 90 if absent. */
  readonly audit_days?: number | null
  /** 1,000,000 if absent. */
  readonly max_audit_records?: number | null
}
