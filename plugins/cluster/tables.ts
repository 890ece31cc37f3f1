import { type Table, table } from 'guard-gateway/core'

/** A process that uses the storage. */
export interface InstanceRow {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly version: string
  /** As `writer` of `guard-gateway/lib/ids` names it. */
  readonly process: string
  /** Versions of the files that it reads for itself, by name. */
  readonly facts: Readonly<Record<string, string | null>> | null
  /** Milliseconds since 1970, by its own clock. */
  readonly started_at: number
  /** Counts while it is alive. Nobody compares clocks: who sees no change for a while takes it for dead. */
  readonly beats: number
  /** The process that ends what this one has left open; null while it is alive. */
  readonly ended_by: string | null
}

/** How often something has changed that processes remember. */
export interface GenerationRow {
  readonly id: string
  readonly value: number
}

/** Work that one process does at a time. */
export interface LeaseRow {
  readonly id: string
  readonly holder: string
}

declare module 'guard-gateway/core' {
  interface Tables {
    instances: InstanceRow
    generations: GenerationRow
    leases: LeaseRow
  }
}

const instances = table<'instances'>({
  id: 'instances',
  columns: {
    id: 'text',
    host: 'text',
    pid: 'integer',
    version: 'text',
    process: 'text',
    facts: 'json',
    started_at: 'integer',
    beats: 'integer',
    ended_by: 'text',
  },
  exact: ['id', 'host', 'version', 'process', 'ended_by'],
})

const generations = table<'generations'>({
  id: 'generations',
  columns: { id: 'text', value: 'integer' },
  exact: ['id'],
})

const leases = table<'leases'>({ id: 'leases', columns: { id: 'text', holder: 'text' }, exact: ['id', 'holder'] })

export const tables: readonly Table[] = [instances, generations, leases]
