/** The live state of a session that everything in this process shares; `row` is what storage holds. */
export interface Session {
  row: SessionRow
  /** Requests under way. */
  open: number
  /** Its row has been read from storage, or written there. */
  stored?: boolean
  /** Tips of the newest request of each thread: what a resume marks as seen. There once detection knows the session's history. */
  tips?: () => readonly string[]
  /** Tells detection of a resume: loop windows and the error streak start over. */
  cleared?: () => void
}

/** In whose name something is sent. */
export interface Caller {
  readonly project_id: string
  readonly agent_id: string | null
  /** The session as the client names it. */
  readonly external_session_id: string | null
}

/** A session as stored and as the administration API shows it. Times are milliseconds since 1970. */
export interface SessionRow {
  id: string
  project_id: string
  agent_id: string | null
  external_id: string | null
  external_source: string
  name: string | null
  metadata: Readonly<Record<string, unknown>>
  client: string
  paused: boolean
  paused_at: number | null
  pause_reason: string | null
  /** A person has ended it: it stays paused and waits for nobody. Null or absent: not. */
  ended_at: number | null
  /** Rows up to this time do not count for loop rules. */
  resumed_at: number | null
  /** Chain tips of what a resume marked as seen. */
  seen_tips: readonly string[]
  requests: number
  flagged: number
  blocked: number
  errors: number
  input_tokens: number
  output_tokens: number
  total_tokens: number
  /** Of these, those read from a provider's cache. */
  cache_read_tokens: number
  /** Millionths of the billing currency. */
  cost_micro: number
  created_at: number
  last_seen_at: number
}
