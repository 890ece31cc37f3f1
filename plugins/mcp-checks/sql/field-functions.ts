import { isShape, listOf, type Shape } from './syntax-tree.ts'

/** Functions of one argument with side effects or delays, or that read other data than tables. */
const ACTING = new Set(
  `brin_summarize_new_values bt_index_parent_check compress_chunk crosstab2 crosstab3 crosstab4 current_setting currval dblink dblink_cancel_query
  dblink_close dblink_connect dblink_connect_u dblink_disconnect dblink_exec dblink_get_notify dblink_get_result decompress_chunk delete_job
  dropgeometrytable gin_clean_pending_list http_delete http_get http_head isn_weak lo_close lo_creat lo_create lo_get lo_import lo_tell lo_tell64
  lo_unlink nextval pg_advisory_lock pg_advisory_lock_shared pg_advisory_unlock pg_advisory_unlock_shared pg_advisory_xact_lock
  pg_advisory_xact_lock_shared pg_backup_start pg_backup_stop pg_buffercache_evict pg_buffercache_evict_relation pg_cancel_backend
  pg_create_physical_replication_slot pg_create_restore_point pg_current_logfile pg_drop_replication_slot pg_file_sync pg_file_unlink
  pg_import_system_collations pg_log_backend_memory_contexts pg_ls_dir pg_ls_replslotdir pg_ls_tmpdir pg_prewarm pg_promote pg_read_binary_file
  pg_read_file pg_replication_origin_create pg_replication_origin_drop pg_replication_origin_session_progress pg_replication_origin_session_setup
  pg_sleep pg_sleep_for pg_sleep_until pg_start_backup pg_stat_file pg_stat_reset_backend_stats pg_stat_reset_replication_slot pg_stat_reset_shared
  pg_stat_reset_single_function_counters pg_stat_reset_single_table_counters pg_stat_reset_slru pg_stat_reset_subscription_stats
  pg_stat_statements_reset pg_stop_backup pg_terminate_backend pg_truncate_visibility_map pg_try_advisory_lock pg_try_advisory_lock_shared
  pg_try_advisory_xact_lock pg_try_advisory_xact_lock_shared populate_geometry_columns postgis_extensions_upgrade postgres_fdw_disconnect set_limit
  setseed ts_stat unlockrows`.split(/\s+/),
)

/** True if `x.name` has a side effect in a database that treats it as `name(x)`. */
export const actsAsField = (name: string): boolean => ACTING.has(name)

/** Expressions that return no record. A name after their dot is a function. */
const SCALAR = new Set(['A_Const', 'A_Expr', 'BoolExpr', 'NullTest', 'BooleanTest', 'SQLValueFunction'])

const SCALAR_TYPES = new Set(
  `text name oid uuid date json jsonb bytea xml inet cidr money regclass regproc regprocedure regtype regrole regnamespace`.split(
    ' ',
  ),
)

/**
 * Functions that PostgreSQL calls for `x.f` as for `f(x)`. Only the catalogue distinguishes them from columns. A name
 * therefore counts as a function if it has side effects, or if no column is possible.
 */
export const calledAsFields = (kind: string, node: Shape): readonly string[] => {
  if (kind === 'ColumnRef')
    return namesIn(listOf(node.fields).slice(1))
      .slice(-1)
      .filter((name) => ACTING.has(name))
  const [first, ...rest] = fieldsOf(kind, node)
  if (first === undefined) return []
  return [first, ...rest].filter((name, index) => ACTING.has(name) || (index === 0 && isScalar(node.arg)))
}

/** The names after the dots of `(x).a.b`. */
export const fieldsOf = (kind: string, node: Shape): readonly string[] =>
  kind === 'A_Indirection' ? namesIn(listOf(node.indirection)) : []

const namesIn = (parts: readonly unknown[]): readonly string[] =>
  parts.flatMap((part) => (isShape(part) && isShape(part.String) ? [String(part.String.sval)] : []))

const isScalar = (expression: unknown): boolean => {
  if (!isShape(expression)) return false
  const [kind = ''] = Object.keys(expression)
  if (kind !== 'TypeCast') return SCALAR.has(kind)
  const cast = expression.TypeCast
  const type = isShape(cast) && isShape(cast.typeName) ? namesIn(listOf(cast.typeName.names)) : []
  return type[0] === 'pg_catalog' || (type.length === 1 && SCALAR_TYPES.has(type[0] ?? ''))
}
