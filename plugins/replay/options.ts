export interface ReplayOptions {
  /** Limit of an ingest request in bytes, before and after decompression; 4 MiB if absent. */
  readonly max_body_bytes?: number
  /** Limit of an import file in bytes, before and after decompression; 64 MiB if absent. */
  readonly max_import_bytes?: number
  /** Bytes of the memory budget that open runs may take, about; all of it if absent. Least recently used runs are evicted. */
  readonly max_open_bytes?: number
  /** Path of the price file; without one all costs are 0. */
  readonly pricing?: string
  /** Idle minutes after which a session's next request starts a new run; 30 if absent. */
  readonly idle_timeout_minutes?: number
  readonly retention?: Retention
}

/** Retention limits; null: no limit. Pinned and active runs stay: written within the hour, or running and written within the day. */
export interface Retention {
  /** Days since a run was recorded; 30 if absent. */
  readonly days?: number | null
  /** 100,000 if absent. */
  readonly max_runs?: number | null
  /** Bytes of the storage file; 2 GiB if absent. */
  readonly max_bytes?: number | null
  /** Days that MCP audit records outlive their run; 90 if absent. */
  readonly audit_days?: number | null
  /** 1,000,000 if absent. */
  readonly max_audit_records?: number | null
}
