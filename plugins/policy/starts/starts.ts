import type { Row, Start, Turn } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'
import { RecentHashes } from '#lib/detection'

/** Groups of starts that are remembered, and starts of each. */
const GROUPS = 256
const STARTS = 32
/** Sessions whose current start is remembered. */
const SESSIONS = 10_000

/** A request as input of starts. */
export interface StartRequest {
  readonly id: string
  readonly project_id: string
  readonly agent_id: string | null
  /** The user agent. */
  readonly client: string
  readonly style: string
  readonly session_id: string
  /** When it arrived, milliseconds since 1970. */
  readonly at: number
  /** The same on the monotonic clock; not known of requests from before a restart. */
  readonly tick?: number | undefined
  /** The fingerprint of its start; empty: the request is no start. */
  readonly print: string
}

interface Group {
  /** Results that its starts produced. */
  readonly request_ids: RecentHashes
  /** Newest first. */
  readonly starts: Run[]
}

type Run = { -readonly [K in keyof Start]: Start[K] } & {
  open: number
  readonly print: string
  readonly group: Group
}

/** Groups of starts of agents with the same fingerprint, and the outcome of each. */
export class Starts {
  /** Least recently used first. */
  readonly #groups = new LRU<Group>(GROUPS)
  /** The current start of each session, least recently used first. */
  readonly #current = new LRU<Run>(SESSIONS)

  /** Earlier starts with the same fingerprint, newest first; undefined if the request is no start. */
  before(request: StartRequest): readonly Start[] | undefined {
    if (!this.#begins(request)) return undefined
    return this.#groups.peek(groupName(request))?.starts ?? []
  }

  /** Counts a request that is forwarded, with the turns that it brings. */
  forwarded(request: StartRequest, { retry, new_turns }: Pick<Row, 'retry' | 'new_turns'>): void {
    const run = !retry && this.#begins(request) ? this.#begin(request) : this.#current.peek(request.session_id)
    if (run === undefined) return
    run.requests++
    run.open++
    run.ended_at = null
    for (const turn of new_turns) run.fresh += freshIn(turn, run.group.request_ids)
  }

  /** Takes back a request that was counted and is not forwarded. What it brought stays known. */
  withdrawn({ id, session_id }: Pick<StartRequest, 'id' | 'session_id'>): void {
    const run = this.#current.peek(session_id)
    if (run === undefined || run.requests === 0) return
    run.requests--
    run.open = Math.max(0, run.open - 1)
    if (run.requests > 0 || run.request_id !== id) return
    this.#current.delete(session_id)
    run.group.starts.splice(run.group.starts.indexOf(run), 1)
  }

  /** Counts the end of a request that was counted. */
  ended(session_id: string, ended_at: number, failed: boolean): void {
    const run = this.#current.peek(session_id)
    if (run === undefined || run.open === 0) return
    run.open--
    if (failed) run.failed++
    if (run.open === 0) run.ended_at = ended_at
  }

  /** A session starts with its first request that can be a start, and again with each that starts as that did. */
  #begins({ session_id, print }: StartRequest): boolean {
    if (print === '') return false
    const present = this.#current.peek(session_id)
    return present === undefined || present.print === print
  }

  #begin(request: StartRequest): Run {
    const { id: request_id, session_id, at, tick, print } = request
    const name = groupName(request)
    const group = this.#groups.peek(name) ?? { request_ids: new RecentHashes(), starts: [] }
    this.#groups.set(name, group)
    const run: Run = {
      session_id,
      request_id,
      at,
      tick,
      ended_at: null,
      requests: 0,
      failed: 0,
      fresh: 0,
      open: 0,
      print,
      group,
    }
    group.starts.unshift(run)
    if (group.starts.length > STARTS) group.starts.length = STARTS
    this.#current.set(session_id, run)
    return run
  }
}

const groupName = ({ project_id, agent_id, client, style, print }: StartRequest): string =>
  JSON.stringify([project_id, agent_id === null ? ['client', programOf(client)] : ['agent', agent_id], style, print])

/** The program's name in a user agent. */
const programOf = (client: string): string => client.split(/[/\s]/, 1)[0] ?? ''

const freshIn = ({ calls }: Turn, seen: RecentHashes): number => {
  let fresh = 0
  for (const { key, result } of calls) if (result !== null && seen.add(hashOf(key, result))) fresh++
  return fresh
}

/** Of two hashes in hex. */
const hashOf = (key: string, result: string): number =>
  Number.parseInt(key.slice(0, 8), 16) ^ Math.imul(Number.parseInt(result.slice(0, 8), 16), 0x9e3779b1)
