import type { Violation } from 'guard-gateway/lib/check-arguments'
import { quoted } from 'guard-gateway/lib/text'
import { lexSql, type PlainDialect, type Token } from './lex.ts'
import { type Operation, type SqlUsage, Unclear } from './operation.ts'
import { functionsOf, harmlessAnywhere } from './plain-functions.ts'
import { operationsOf } from './plain-operations.ts'
import { readPostgresSql } from './postgres.ts'
import { isParameter } from './tokens.ts'

const MAX_BYTES = 256 * 1024

type Dialect = 'postgres' | 'mysql' | 'sqlite' | 'generic'

export interface SqlOptions {
  args: string[]
  dialect?: Dialect
  operations: Operation[]
  multiple_statements?: boolean
  allow_functions?: string[]
  deny_functions?: string[]
  optional?: boolean
}

const TOO_LONG: Violation = { reason: `is over ${MAX_BYTES} bytes long`, certain: true }
const CONTROL = /[\p{Cc}--[\t\n]]/v

/** The violation of a text. For PostgreSQL the grammar must be loaded. */
export const violationIn = (written: string, options: SqlOptions): Violation | undefined => {
  // too long even if every line break is one byte shorter
  if (written.length > 2 * MAX_BYTES) return TOO_LONG
  // a line break for every database, unlike a single carriage return
  const text = written.replaceAll('\r\n', '\n')
  if (CONTROL.test(text)) return { reason: 'holds a control character', certain: true }
  if (Buffer.byteLength(text) > MAX_BYTES) return TOO_LONG
  const dialect = options.dialect ?? 'generic'
  try {
    return judged(dialect === 'postgres' ? readPostgresSql(text) : readPlainSql(text, dialect), dialect, options)
  } catch (error) {
    if (error instanceof Unclear) return { reason: error.message, certain: false }
    throw error
  }
}

const judged = (usage: SqlUsage, dialect: Dialect, options: SqlOptions): Violation | undefined => {
  if (usage.statements === 0) return { reason: 'holds no statement', certain: true }
  if (usage.statements > 1 && options.multiple_statements !== true)
    return { reason: `holds ${usage.statements} statements, one is allowed`, certain: true }
  for (const operation of usage.operations)
    if (!options.operations.includes(operation))
      return { reason: `does the operation ${operation}, which is not allowed`, certain: true }
  return ofFunctions(usage, dialect, options)
}

const ofFunctions = ({ functions, fields }: SqlUsage, dialect: Dialect, options: SqlOptions): Violation | undefined => {
  const harmless = dialect === 'postgres' ? harmlessInPostgres : harmlessAnywhere
  for (const name of [...functions, ...fields]) {
    const shortName = quoted(name)
    if (isDenied(name, options.deny_functions)) return { reason: `calls ${shortName}, which is denied`, certain: true }
    if (functions.has(name) && !harmless.has(name) && options.allow_functions?.includes(name) !== true)
      return { reason: `calls ${shortName}, which may have side effects`, certain: false }
  }
  return undefined
}

/** Compares the whole name and its last part, without quotes and case. */
const isDenied = (name: string, denied: readonly string[] = []): boolean => {
  const plain = name.replace(/["`]/g, '').toLowerCase()
  return denied.some((entry) => entry === plain || entry === plain.slice(plain.lastIndexOf('.') + 1))
}

/** Built-in functions of PostgreSQL that read only their arguments, the catalogue, statistics and the clock. */
const NAMES = `abs acos acosd acosh age any_value array_agg array_append array_cat array_dims array_fill array_length array_lower array_ndims
  array_position array_positions array_prepend array_remove array_replace array_reverse array_sample array_shuffle array_sort array_to_json
  array_to_string array_to_tsvector array_upper ascii asin asind asinh atan atan2 atan2d atand atanh avg bit_and bit_count bit_length bit_or
  bit_xor bool bool_and bool_or btrim cardinality casefold cbrt ceil ceiling char_length character_length chr clock_timestamp coalesce concat concat_ws corr cos
  cosd cosh cot cotd count covar_pop covar_samp crc32 crc32c cume_dist current_catalog current_database current_schema current_schemas current_user date date_add
  date_bin date_part date_subtract date_trunc decode degrees dense_rank div encode enum_first enum_last enum_range erf erfc every exp extract
  factorial family first_value float4 float8 floor format format_type gamma gcd gen_random_uuid generate_series generate_subscripts get_bit
  get_byte greatest grouping has_column_privilege has_database_privilege has_schema_privilege has_table_privilege host hostmask initcap int2 int4 int8
  is_normalized isempty isfinite json_agg json_agg_strict json_array_elements json_array_elements_text json_array_length json_build_array
  json_build_object json_each json_each_text json_extract_path json_extract_path_text json_object json_object_agg json_object_agg_strict
  json_object_agg_unique json_object_keys json_strip_nulls json_to_record json_to_recordset json_typeof jsonb_agg jsonb_agg_strict
  jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each jsonb_each_text
  jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_agg jsonb_object_agg_strict jsonb_object_agg_unique
  jsonb_object_keys jsonb_path_exists jsonb_path_match jsonb_path_query jsonb_path_query_array jsonb_path_query_first jsonb_pretty jsonb_set
  jsonb_set_lax jsonb_strip_nulls jsonb_to_record jsonb_to_recordset jsonb_typeof justify_days justify_hours justify_interval lag last_value
  lcm lead least left length lgamma like_escape ln localtime localtimestamp log log10 lower lower_inc lower_inf lpad ltrim make_date make_interval
  make_time make_timestamp make_timestamptz masklen max md5 min min_scale mod mode multirange netmask network normalize notlike now nth_value
  ntile nullif num_nonnulls num_nulls numeric numnode obj_description octet_length overlaps overlay parse_ident percent_rank percentile_cont
  percentile_disc phraseto_tsquery pi plainto_tsquery position pow power quote_ident quote_literal quote_nullable radians random random_normal
  range_agg range_intersect_agg range_merge rank regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace
  regexp_split_to_array regexp_split_to_table regexp_substr regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy
  regr_syy repeat replace reverse right round row_number row_to_json rpad rtrim scale set_bit set_byte set_masklen setweight sha224 sha256 sha384
  sha512 sign similar_to_escape sin sind sinh split_part sqrt starts_with statement_timestamp stddev stddev_pop stddev_samp string_agg
  string_to_array string_to_table strip strpos substr substring sum system_user tan tand tanh text timeofday timestamp timestamptz timezone to_ascii to_bin to_char
  to_date to_hex to_json to_jsonb to_number to_oct to_regclass to_regtype to_timestamp to_tsquery to_tsvector transaction_timestamp translate trim
  trim_array trim_scale trunc ts_delete ts_filter ts_headline ts_rank ts_rank_cd tsvector_to_array unistr unnest upper upper_inc
  upper_inf uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7 uuid_generate_v4 var_pop var_samp variance version websearch_to_tsquery
  width_bucket xmlagg xmlcomment xmlconcat xmlexists xpath xpath_exists col_description shobj_description pg_column_size pg_database_size
  pg_get_constraintdef pg_get_expr pg_get_functiondef pg_get_indexdef pg_get_ruledef pg_get_serial_sequence pg_get_triggerdef pg_get_userbyid
  pg_get_viewdef pg_indexes_size pg_is_in_recovery pg_conf_load_time pg_postmaster_start_time pg_relation_size pg_size_bytes pg_size_pretty pg_table_is_visible
  pg_table_size pg_tablespace_size pg_total_relation_size pg_typeof pg_function_is_visible pg_type_is_visible int4range int8range numrange tsrange
  tstzrange daterange int4multirange int8multirange nummultirange tsmultirange tstzmultirange datemultirange json_populate_record
  json_populate_recordset jsonb_populate_record jsonb_populate_recordset inet_server_addr inet_server_port inet_client_addr inet_client_port
  pg_backend_pid pg_blocking_pids pg_client_encoding pg_encoding_to_char pg_get_keywords pg_get_partkeydef pg_get_statisticsobjdef pg_has_role
  has_function_privilege has_sequence_privilege to_regproc to_regprocedure to_regnamespace to_regrole to_regcollation to_regoper to_regoperator
  convert_from convert_to pg_get_function_arguments pg_get_function_identity_arguments pg_get_function_arg_default pg_get_function_result
  pg_get_function_sqlbody pg_get_partition_constraintdef pg_get_replica_identity_index pg_get_object_address pg_describe_object pg_identify_object
  pg_identify_object_as_address pg_index_column_has_property pg_index_has_property pg_indexam_has_property pg_opclass_is_visible
  pg_operator_is_visible pg_opfamily_is_visible pg_collation_is_visible pg_conversion_is_visible pg_ts_config_is_visible pg_ts_dict_is_visible
  pg_ts_parser_is_visible pg_ts_template_is_visible pg_statistics_obj_is_visible pg_options_to_table pg_relation_filenode pg_filenode_relation
  pg_relation_is_updatable pg_column_is_updatable pg_sequence_last_value pg_sequence_parameters pg_tablespace_databases pg_timezone_names pg_timezone_abbrevs
  pg_partition_root pg_partition_tree pg_partition_ancestors pg_collation_for pg_column_compression pg_char_to_encoding getdatabaseencoding
  get_current_ts_config pg_my_temp_schema pg_is_other_temp_schema has_any_column_privilege has_foreign_data_wrapper_privilege
  has_language_privilege has_server_privilege has_tablespace_privilege has_type_privilege row_security_active aclexplode acldefault
  pg_available_extensions pg_available_extension_versions jsonb_path_exists_tz jsonb_path_match_tz jsonb_path_query_tz jsonb_path_query_array_tz
  jsonb_path_query_first_tz json_to_tsvector jsonb_to_tsvector ts_debug ts_lexize ts_parse ts_token_type tsquery_phrase querytree mxid_age
  pg_current_snapshot pg_current_xact_id_if_assigned pg_snapshot_xmin pg_snapshot_xmax pg_snapshot_xip pg_visible_in_snapshot pg_xact_status
  txid_current_if_assigned txid_current_snapshot txid_snapshot_xmin txid_snapshot_xmax txid_snapshot_xip txid_visible_in_snapshot txid_status
  pg_xact_commit_timestamp pg_wal_lsn_diff pg_walfile_name pg_current_wal_lsn pg_current_wal_insert_lsn pg_current_wal_flush_lsn
  pg_last_wal_receive_lsn pg_last_wal_replay_lsn pg_last_xact_replay_timestamp pg_is_wal_replay_paused pg_safe_snapshot_blocking_pids
  hashtext hashtextextended hashint4 hashint8 hash_numeric hash_record hash_array area box bound_box broadcast abbrev center circle diagonal
  diameter height isclosed ishorizontal isopen isparallel isperp isvertical line lseg npoints path point polygon radius slope width
  inet_merge inet_same_family xml_is_well_formed xml_is_well_formed_content xml_is_well_formed_document pg_stat_get_backend_pid
  pg_stat_get_activity pg_stat_get_progress_info pg_stat_get_live_tuples pg_stat_get_dead_tuples pg_stat_get_numscans
  pg_stat_get_last_vacuum_time pg_stat_get_last_autovacuum_time pg_stat_get_last_analyze_time pg_stat_get_last_autoanalyze_time
  pg_stat_get_analyze_count pg_stat_get_autoanalyze_count pg_stat_get_vacuum_count pg_stat_get_autovacuum_count pg_stat_get_mod_since_analyze
  pg_stat_get_tuples_inserted pg_stat_get_tuples_updated pg_stat_get_tuples_deleted pg_stat_get_tuples_hot_updated pg_stat_get_tuples_returned
  pg_stat_get_tuples_fetched pg_stat_get_blocks_fetched pg_stat_get_blocks_hit pg_stat_get_function_calls pg_stat_get_db_numbackends
  pg_stat_get_db_xact_commit pg_stat_get_db_xact_rollback pg_stat_get_db_blocks_fetched pg_stat_get_db_blocks_hit pg_stat_get_db_deadlocks
  pg_stat_get_db_temp_files pg_stat_get_db_temp_bytes pg_stat_get_wal_senders current_query convert cash_words pg_lsn pg_trigger_depth
  pg_lock_status pg_prepared_xact pg_listening_channels pg_notification_queue_usage pg_jit_available pg_encoding_max_length
  pg_collation_actual_version pg_relation_filepath pg_relation_is_publishable pg_tablespace_location has_parameter_privilege
  pg_settings_get_flags pg_last_committed_xact oidvectortypes pg_input_is_valid pg_input_error_info jsonb_populate_record_valid pg_basetype
  to_regtypemod xmltext unicode_version unicode_assigned icu_unicode_version pg_get_acl has_largeobject_privilege`

const harmlessInPostgres: ReadonlySet<string> = new Set(NAMES.split(/\s+/))

/** Reads a text for databases without a grammar here. Throws Unclear for SQL that databases parse differently. */
const readPlainSql = (sql: string, dialect: PlainDialect): SqlUsage => {
  const operations = new Set<Operation>()
  const functions = new Set<string>()
  const statements = splitStatements(lexSql(sql, dialect))
  for (const tokens of statements) {
    if (dialect === 'sqlite' && isReadingPragma(tokens)) {
      operations.add('show')
      continue
    }
    refuseFiles(tokens)
    refuseSettings(tokens)
    for (const operation of operationsOf(tokens)) operations.add(operation)
    for (const name of functionsOf(tokens)) functions.add(name)
  }
  return { statements: statements.length, operations, functions, fields: new Set() }
}

/** ClickHouse queries can set their own options, including permissions. Throws Unclear. */
const refuseSettings = (tokens: readonly Token[]): void => {
  const sets = tokens.some(
    ({ kind, text }, at) =>
      kind === 'word' && text === 'settings' && tokens[at + 1]?.kind === 'word' && tokens[at + 2]?.text === '=',
  )
  if (sets) throw new Unclear('sets options of the database, which is not read')
}

const splitStatements = (tokens: readonly Token[]): readonly (readonly Token[])[] => {
  const statements: Token[][] = [[]]
  for (const token of tokens) {
    if (token.kind === 'mark' && token.text === ';') statements.push([])
    else statements.at(-1)?.push(token)
  }
  return statements.filter((statement) => statement.length > 0)
}

/** SQLite pragmas that only read, with any argument. */
const READING = new Set(
  `table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list foreign_key_check integrity_check quick_check`.split(
    /\s+/,
  ),
)

/** SQLite pragmas that only read without an argument. With one, many of them set a value. */
const READING_ALONE = new Set(
  `database_list collation_list function_list module_list pragma_list compile_options page_count page_size freelist_count data_version user_version
  schema_version application_id encoding journal_mode journal_size_limit foreign_keys auto_vacuum synchronous cache_size busy_timeout locking_mode
  mmap_size query_only recursive_triggers temp_store`.split(/\s+/),
)

/** True if a pragma only reads, such as `pragma table_info(t)` or `pragma main.user_version`. Unknown pragmas may do anything. */
const isReadingPragma = (tokens: readonly Token[]): boolean => {
  if (tokens[0]?.text !== 'pragma') return false
  const [name, ...rest] = tokens.slice(tokens[2]?.text === '.' ? 3 : 1)
  if (name?.kind !== 'word') return false
  if (rest.length === 0) return READING.has(name.text) || READING_ALONE.has(name.text)
  const [open, value, close, ...more] = rest
  if (open?.text !== '(' || value?.kind === 'mark' || close?.text !== ')' || more.length > 0) return false
  return READING.has(name.text)
}

/** Functions that use `from` between their arguments. */
const PARTING = new Set(['extract', 'trim', 'substring', 'overlay', 'position'])

/** Clauses after the list of tables. In DuckDB `set` and `values` can be names there. */
const AFTER_ALIAS = new Set(
  `where group order having limit offset fetch window qualify union except intersect select returning for`.split(/\s+/),
)

/** Text that contains a path, a URL, a pattern or a file name. */
const FILE = /[/\\:*?]|\.\w+"?`?$/

/** DuckDB reads `data.csv` from a file, and Spark reads `csv.data`, with the format as schema. */
const FORMATS = /^(?:csv|json|parquet|avro|orc|text|binaryfile)$/
const ENDINGS = /^(?:csv|tsv|json|jsonl|ndjson|parquet|avro|xlsx|gz|zst|shp|gpkg|fgb|geojson)$/

/** Words before a table name. DuckDB also allows some of them in brackets. */
const NAMING = /^(?:join|table|only|describe|desc|summarize|show|pivot|unpivot)$/

/** SQLite tables with an effect without brackets: one reads any file, one reads an archive, one writes statistics. */
const ACTING = new Set(['fsdir', 'zipfile', 'pragma_optimize'])

interface Brackets {
  /** The brackets of a function that uses `from` between its arguments. */
  readonly parting: boolean
  inTables: boolean
}

/** Throws Unclear if a string or a quoted file name is used as a table: some databases read that file or fetch that URL. */
const refuseFiles = (tokens: readonly Token[]): void => {
  const around: Brackets[] = []
  let here: Brackets = { parting: false, inTables: false }
  let expected = false
  for (const [index, token] of tokens.entries()) {
    if (expected || isAfterAlias(token, here)) refuseTable(nameAt(tokens, index))
    const before = tokens[index - 1]?.text ?? ''
    if (token.text === '(') {
      around.push(here)
      here = { parting: PARTING.has(before), inTables: expected }
    } else if (token.text === ')') here = around.pop() ?? here
    else expected = opensTable(token, before, here) || isIn(token, tokens[index + 1], here)
  }
}

/** No database has names with more parts. */
const MAX_PARTS = 8

/** The parts of a dotted name. */
const nameAt = (tokens: readonly Token[], first: number): readonly Token[] => {
  const parts = tokens.slice(first, first + 1)
  for (let dot = first + 1; tokens[dot]?.text === '.' && parts.length < MAX_PARTS; dot += 2)
    parts.push(...tokens.slice(dot + 1, dot + 2))
  return parts
}

const isFile = ({ kind, text }: Token): boolean => kind === 'string' || (kind === 'quoted' && FILE.test(text))

const refuseTable = (name: readonly Token[]): void => {
  const parts = name.map(({ text }) => text.replace(/[:"`]/g, '').toLowerCase())
  const [first = '', last = ''] = [parts[0], parts.at(-1)]
  if (name.some(isFile) || (name.length > 1 && (FORMATS.test(first) || ENDINGS.test(last))))
    throw new Unclear('names a table by text that some databases take for a file')
  if (ACTING.has(last)) throw new Unclear('names a table that acts when it is read')
}

/** DuckDB's `from x :t`. */
const isAfterAlias = ({ text }: Token, { inTables }: Brackets): boolean => inTables && isParameter(text)

/** SQLite's `x in t`, without brackets. */
const isIn = ({ kind, text }: Token, next: Token | undefined, { parting }: Brackets): boolean =>
  kind === 'word' && text === 'in' && next?.text !== '(' && !parting

const endsTables = (word: string, before: string): boolean =>
  word === 'values' ? before === '(' : AFTER_ALIAS.has(word) && before !== 'as'

/** True if a table name follows. Updates `here.inTables` at the start and end of the list of tables. */
const opensTable = ({ kind, text }: Token, before: string, here: Brackets): boolean => {
  if (kind === 'mark') return text === ',' && here.inTables
  if (kind !== 'word') return false
  if (endsTables(text, before)) here.inTables = false
  if (text === 'from' && before !== 'distinct' && !here.parting) here.inTables = true
  else return NAMING.test(text)
  return true
}
