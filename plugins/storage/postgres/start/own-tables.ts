/** The tables of the backend itself. Their names stay, so that any version can share the database with another. */
export const OWN_TABLES = [
  // one row: whose database this is
  `create table if not exists guard_meta (
    id integer primary key check (id = 1), program text not null, format integer not null, min_format integer not null,
    cluster text not null, made_at timestamptz not null default now()
  )`,
  // a row for each batch whose answer is not yet known to have arrived
  `create table if not exists guard_commits (
    process text collate "C" not null, number bigint not null, fence boolean not null default false,
    at timestamptz not null default now(), primary key (process, number)
  )`,
  // a row for each row that is locked; no transaction leaves one
  `create table if not exists guard_locks (name text collate "C" primary key)`,
] as const

/** The layout of tables that this version writes, and the oldest that can write beside it. */
export const FORMAT = 1
export const MIN_FORMAT = 1
export const PROGRAM = 'guard-gateway'
