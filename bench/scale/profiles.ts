import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Profile } from '../load/profile.ts'
import type { ScaleSetup } from './fleets.ts'
import { type Case, type Fleets, loadOf, nameOf } from './gateways.ts'
import { runSql } from './postgres.ts'
import { Sampler } from './sampler.ts'

const TOP = 30
/** Settings of a server that counts its statements. */
export const COUNTING = ['shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.track=all']

/** The functions of one gateway under load. */
export interface ScaleProfile {
  readonly title: string
  readonly profile: Profile
}

/** A statement of the server under load. */
export interface StatementFigures {
  readonly text: string
  /** Calls, and microseconds of its execution, for each request. */
  readonly calls: number
  readonly exec_us: number
}

/** Samples the main thread of one gateway on each storage, and counts the statements of PostgreSQL. */
export const measureProfiles = async (
  setup: ScaleSetup,
  fleets: Fleets,
  { folder, requests, agents }: { readonly folder: string; readonly requests: number; readonly agents: number },
): Promise<{ readonly profiles: readonly ScaleProfile[]; readonly statements: readonly StatementFigures[] }> => {
  mkdirSync(folder, { recursive: true })
  const sampler = new Sampler(setup)
  const profiles: ScaleProfile[] = []
  let statements: readonly StatementFigures[] = []
  for (const store of ['sqlite', 'postgres'] as const) {
    const of: Case = { store, gateways: 1, routing: 'sticky', shape: 'chat_1k', budget: false }
    const fleet = fleets.of(of)
    const [child] = fleet.children
    if (child === undefined) throw new Error('no gateway was started')
    await child.request('profile_start', null)
    await sampler.sample(fleet, loadOf(of, agents, requests))
    const file = resolve(join(folder, `${store}.cpuprofile`))
    profiles.push({ title: nameOf(of), profile: await child.request('profile_stop', { file, top: TOP }) })
    if (store === 'sqlite') continue
    await runSql(fleet.url, 'create extension if not exists pg_stat_statements', 'select pg_stat_statements_reset()')
    await sampler.sample(fleet, loadOf(of, agents, requests))
    statements = await statementsOf(fleet.url, requests)
  }
  return { profiles, statements }
}

const statementsOf = async (url: string, requests: number): Promise<readonly StatementFigures[]> => {
  const rows = await runSql(
    url,
    `select query, calls::int, total_exec_time as ms from pg_stat_statements s
     join pg_database d on d.oid = s.dbid and d.datname = current_database() order by total_exec_time desc limit ${TOP}`,
  )
  return rows.map(({ query, calls, ms }) => ({
    text: String(query).replaceAll(/\s+/g, ' '),
    calls: Number(calls) / requests,
    exec_us: (Number(ms) * 1000) / requests,
  }))
}
