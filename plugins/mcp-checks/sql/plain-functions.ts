import { actsAsField } from './field-functions.ts'
import type { Token } from './lex.ts'
import { Unclear } from './operation.ts'
import { endsExpression, isParameter, NO_FUNCTION, textAt } from './tokens.ts'

/** Words that are no function if the given word precedes them. */
const NO_FUNCTION_AFTER: Readonly<Record<string, RegExp>> = {
  of: /^member$/,
  apply: /^(?:cross|outer)$/,
  system: /^tablesample$/,
  bernoulli: /^tablesample$/,
}

/** Clauses after a table, a column or a call, which is no position for a function. */
const CLAUSES = new Set(['option', 'tablesample', 'sample', 'pivot', 'unpivot', 'keep', 'exclude', 'at'])

/**
 * Names before brackets, sequences that advance, and packages with functions that need no brackets. Omits names of
 * tables and column lists if the previous word identifies them.
 */
export const functionsOf = (tokens: readonly Token[]): readonly string[] =>
  tokens.flatMap((token, index) => {
    if (textAt(tokens, index + 1) === '(') return calledName(tokens, token, index)
    if (/^(?:dbms|utl)_/.test(token.text) && textAt(tokens, index + 1) === '.') return [token.text]
    if (textAt(tokens, index - 1) === '.' && actsAsField(bare(token.text))) return [bare(token.text)]
    if (isApplied(tokens, index)) return [token.text]
    return isNextValue(tokens, index) ? ['nextval'] : []
  })

const bare = (name: string): string => name.replace(/["`]/g, '').toLowerCase()

/** `next value for s`, and Db2's `nextval for s`. */
const isNextValue = (tokens: readonly Token[], index: number): boolean => {
  if (textAt(tokens, index + 1) !== 'for') return false
  const word = textAt(tokens, index)
  return word === 'nextval' || (word === 'value' && textAt(tokens, index - 1) === 'next')
}

/** ClickHouse's `* apply f`. */
const isApplied = (tokens: readonly Token[], index: number): boolean => {
  if (textAt(tokens, index - 1) !== 'apply' || NO_FUNCTION.has(textAt(tokens, index))) return false
  return textAt(tokens, index - 2) === ')' || isAllColumns(tokens, index - 2)
}

const calledName = (tokens: readonly Token[], { kind, text }: Token, index: number): readonly string[] => {
  // DuckDB and ClickHouse treat the name after a colon as a function after an alias or a branch
  if (isParameter(text)) return [text]
  if (kind !== 'word' && kind !== 'quoted') return []
  if (kind === 'word' && isNoFunction(tokens, index, text)) return []
  let first = index
  while (textAt(tokens, first - 1) === '.') first -= 2
  if (first < 0) throw new Unclear('begins with a dot')
  if (/^(?:into|table|references)$/.test(textAt(tokens, first - 1)) || isNewTable(tokens, first)) return []
  if (isWithColumns(tokens, first, index) || isOuterJoin(tokens, index + 1)) return []
  // functions of a type are never known ones
  const parts = tokens.slice(textAt(tokens, first - 1) === '::' ? first - 1 : first, index + 1)
  return [parts.map((part) => part.text).join('')]
}

const isNoFunction = (tokens: readonly Token[], index: number, word: string): boolean => {
  const before = textAt(tokens, index - 1)
  if (before === '.') return false
  // with an argument it sets the value
  if (word === 'last_insert_id') return textAt(tokens, index + 2) === ')'
  if (CLAUSES.has(word)) return endsExpression(tokens[index - 1]) || isAllColumns(tokens, index - 1)
  return (
    NO_FUNCTION.has(word) || (Object.hasOwn(NO_FUNCTION_AFTER, word) && NO_FUNCTION_AFTER[word]?.test(before) === true)
  )
}

/** A star that is no multiplication. */
const isAllColumns = (tokens: readonly Token[], star: number): boolean =>
  textAt(tokens, star) === '*' && /^(?:[.,]|select|distinct)$/.test(textAt(tokens, star - 1))

/** Oracle's outer join: `a.id = b.id (+)`. */
const isOuterJoin = (tokens: readonly Token[], open: number): boolean =>
  textAt(tokens, open + 1) === '+' && textAt(tokens, open + 2) === ')'

/** `create table if not exists x (` and `create index i on x (`. */
const isNewTable = (tokens: readonly Token[], at: number): boolean => {
  const [before, earlier] = [textAt(tokens, at - 1), textAt(tokens, at - 2)]
  if (before === 'exists') return earlier === 'not' && textAt(tokens, at - 3) === 'if'
  return before === 'on' && textAt(tokens, 0) === 'create'
}

/** `… as x (a, b)` outside of definitions, and both names in `with x (a) as (…), y (b) as (select …)`. A list of columns follows them. */
const isWithColumns = (tokens: readonly Token[], first: number, last: number): boolean => {
  const before = textAt(tokens, first - 1)
  if (before === 'as') return !/^(?:create|alter)$/.test(textAt(tokens, 0))
  if (before === ',') return /^\( (?:select|with)$/.test(queryAfter(tokens, last))
  return /^(?:with|recursive)$/.test(before) && queryAfter(tokens, last) !== ''
}

/** The first two tokens of the query of a common table expression. Empty for other names before brackets. */
const queryAfter = (tokens: readonly Token[], last: number): string => {
  // stops at any bracket, so that the search stays linear
  let close = last + 2
  while (tokens[close] !== undefined && !/^[().;]$/.test(textAt(tokens, close))) close++
  const next = [1, 2, 3, 4, 5].map((step) => textAt(tokens, close + step)).join(' ')
  return /^as (?:(?:not )?materialized )?(\( \S+)/.exec(next)?.[1] ?? ''
}

/**
 * Functions that read only their arguments and the clock, in every database that has them: no files, settings, locks,
 * sequences, sessions or other databases.
 */
const NAMES = `overlay abs acos asin atan atan2 avg cast ceil ceiling char_length character_length coalesce concat concat_ws cos cot count
  cume_dist current_date current_time current_timestamp date degrees dense_rank exp extract first_value floor format greatest group_concat hex if
  ifnull iif instr lag last_value lcase lead least left length ln localtime localtimestamp locate log log10 log2 lower lpad ltrim max mid min mod now
  nth_value ntile nullif octet_length percent_rank pi position pow power radians rank replace reverse right round row_number rpad rtrim sign sin
  sqrt strftime substr substring sum tan time total trim trunc truncate typeof ucase unhex unicode upper year month day hour minute second week
  quarter dayofweek dayofmonth dayofyear dayname monthname datediff timestampdiff date_add date_sub date_format datetime julianday unixepoch
  from_unixtime unix_timestamp str_to_date last_day curdate curtime utc_timestamp json_extract json_array json_object json_valid json_type
  json_array_length json_length json_keys json_contains json_unquote json_each json_tree json_group_array json_group_object json_arrayagg
  json_objectagg stddev variance std stddev_pop stddev_samp var_pop var_samp bit_length ascii char space strcmp soundex printf quote likely
  unlikely likelihood find_in_set field elt substring_index any_value isnull convert version user database schema current_user session_user
  md5 sha1 sha2 uuid rand random repeat found_rows row_count connection_id changes total_changes last_insert_rowid sqlite_version weekday adddate
  subdate addtime subtime timediff time_format makedate maketime sec_to_time time_to_sec weekofyear yearweek to_days from_days period_diff
  microsecond sysdate utc_date utc_time timestampadd convert_tz bit_count bit_and bit_or bit_xor conv bin oct crc32 ord to_base64 from_base64
  regexp_replace regexp_like regexp_substr regexp_instr inet_ntoa inet_aton inet6_ntoa inet6_aton is_ipv4 is_ipv6 bin_to_uuid uuid_to_bin is_uuid
  json json_search json_set json_insert json_replace json_remove json_patch json_pretty json_quote json_contains_path json_depth json_overlaps
  json_merge_patch json_merge_preserve json_value json_table bm25 snippet highlight pragma_table_info pragma_table_xinfo pragma_table_list
  pragma_index_list pragma_index_info pragma_index_xinfo pragma_foreign_key_list pragma_database_list pragma_collation_list pragma_function_list
  pragma_compile_options date_trunc date_part to_char to_date to_number to_timestamp age array_agg string_agg listagg nvl nvl2 decode dateadd
  datepart datename date_diff getdate getutcdate len charindex patindex stuff eomonth try_cast try_convert approx_count_distinct median
  percentile_cont percentile_disc corr countif count_if split_part regexp_extract regexp_contains safe_divide safe_cast initcap strpos bool_and
  bool_or array_length unnest grouping grouping_id div path explode timestamp_diff timestamp_add timestamp_sub parse_date format_date contains
  freetext string_split openjson isjson json_query json_modify isnumeric isdate newid sysdatetime sysutcdatetime sysdatetimeoffset switchoffset
  todatetimeoffset datefromparts datetimefromparts timefromparts datediff_big parse try_parse checksum hashbytes quotename replicate choose
  difference str count_big stdev stdevp var varp square atn2 object_id object_name schema_id schema_name db_id db_name col_name col_length type_name
  suser_sname suser_name user_name host_name app_name columnproperty objectproperty serverproperty
  acosh add_months adddays addmonths aes_decrypt aes_encrypt aggregate anyheavy anylast approx_distinct approx_percentile approx_quantile
  approx_quantiles approx_top_count approx_top_sum arbitrary arg_max arg_min argmax argmin array array_append array_average array_cat
  array_compact array_concat array_concat_agg array_construct array_contains array_distinct array_except array_extract array_frequency
  array_intersect array_join array_max array_min array_position array_remove array_reverse array_size array_slice array_sort array_sum
  array_to_string array_union array_unique_agg arrayall arrayconcat arraycount arraydistinct arrayelement arrayexists arrayfilter arrayjoin
  arraymap arrays_zip arraysort arraystringconcat arraysum as_varchar asinh assumenotnull atanh avgif base64 binary_checksum bitand booland_agg
  boolor_agg bround byte_length cardinality charset check_json checksum_agg chr cityhash64 code_points_to_string codepoint coercibility collation
  collect_list collect_set combinations compress conditional_change_event conditional_true_event contains_substr convert_timezone cosh covar_pop
  covar_samp current_role databasepropertyex date_bucket date_from_parts date_from_unix_date date_parse datetime2fromparts datetime_add
  datetime_diff datetime_sub datetime_trunc datetimeoffsetfromparts datetrunc decompress div0 div0null domain editdistance element_at empty
  ends_with endswith entropy epoch epoch_ms epoch_us equal_null every explode_outer export_set extractall farm_fingerprint favg filter first
  flatten forall format_bytes format_datetime format_pico_time format_time format_timestamp formatdatetime formatmessage formatreadablequantity
  formatreadablesize from_csv from_hex from_iso8601_date from_iso8601_timestamp from_json from_tz from_utc_timestamp fsum generate_array
  generate_date_array generate_series generate_timestamp_array generate_uuid generator geomean geometric_mean get get_format get_json_object
  get_path grouparray groupuniqarray hamming_distance has has_perms_by_name hasall hasany hash haversine hextoraw histogram hll
  human_readable_seconds icu_version ident_current ident_incr ident_seed ieee_divide iff index_col indexof indexproperty inline ipv4numtostring
  ipv4stringtonum is_finite is_inf is_infinite is_member is_nan is_null_value is_rolemember is_srvrolemember jaccard jaro_winkler_similarity
  json_array_contains json_array_insert json_error_position json_extract_array json_extract_scalar json_extract_string json_format json_merge
  json_parse json_query_array json_schema_valid json_schema_validation_report json_size json_storage_free json_storage_size json_structure
  json_tuple json_value_array jsonb jsonb_array jsonb_array_insert jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert jsonb_object
  jsonb_patch jsonb_remove jsonb_replace jsonb_set jsonextractbool jsonextractfloat jsonextractint jsonextractraw jsonextractstring jsonhas
  kurtosis last lengthutf8 levenshtein levenshtein_distance linestring list list_agg list_aggregate list_contains list_distinct list_extract
  list_filter list_sort list_transform list_unique list_value lnnvl logical_and logical_or lowerutf8 mad make_date make_interval make_set
  make_timestamp map_agg map_entries map_from_arrays map_keys map_values match matchinfo max_by maxif md5_hex min_by minif mode months_between
  multiif multimap_agg multisearchany named_struct nanvl negative neighbor next_day ngrams nls_lower nls_upper nlssort normal normalize
  normalize_and_casefold notempty nullifzero numbers numeric_histogram numtodsinterval numtoyminterval object_agg object_construct
  object_definition object_keys object_schema_name objectpropertyex offsets ora_hash original_login parse_datetime parse_json parse_time
  parse_timestamp parse_url parsedatetime parsedatetimebesteffort parsename percentile percentile_approx pmod point polygon posexplode
  posexplode_outer positioncaseinsensitive positive previous_day product protocol quantile quantile_cont quantile_disc quantileexact quantiles
  quantiletiming randstr range ratio_to_report rawtohex regexp_count regexp_extract_all regexp_full_match regexp_matches regexp_split_to_array
  regexp_split_to_table regexp_substr_all regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy remainder
  replaceall replaceone replaceregexpall replaceregexpone reservoir_quantile root rowcount_big rowidtochar rownumberinallblocks runningdifference
  safe_add safe_multiply safe_negate safe_subtract scope_identity sentences seq1 seq2 seq4 seq8 sequence sha1_hex sha256 sha2_hex sha512 shuffle
  sinh siphash64 size skew skewness slice smalldatetimefromparts sort_array split split_to_map split_to_table splitbychar splitbystring
  sqlite_compileoption_used sqlite_source_id st_area st_asgeojson st_astext st_buffer st_centroid st_contains st_distance st_distance_sphere
  st_dwithin st_geogfromtext st_geomfromtext st_intersects st_length st_makepoint st_point st_setsrid st_srid st_transform st_within st_x st_y
  stack standard_hash starts_with startswith statement_digest statement_digest_text stats_date str_split str_to_map string_escape
  string_split_regex string_to_array strlen strptime strtok strtok_to_array struct substringutf8 subtractdays subtractmonths subtype sumif summap
  sys_connect_by_path sys_extract_utc sys_guid tanh time_add time_bucket time_diff time_from_parts time_slice time_sub time_trunc timeadd
  timestamp_from_parts timestamp_micros timestamp_millis timestamp_ntz_from_parts timestamp_seconds timestamp_trunc to_array to_boolean
  to_code_points to_csv to_decimal to_double to_dsinterval to_hex to_iso8601 to_json to_json_string to_object to_seconds to_time to_timestamp_ltz
  to_timestamp_ntz to_timestamp_tz to_unixtime to_utc_timestamp to_varchar to_variant to_yminterval todate todatetime todatetime64 today
  todayofmonth todayofweek todayofyear todecimal64 tofloat32 tofloat64 tohour toint32 toint64 tominute tomonday tomonth tonullable topk tosecond
  tostartofday tostartoffifteenminutes tostartoffiveminutes tostartofhour tostartofinterval tostartofminute tostartofmonth tostartofquarter
  tostartofweek tostartofyear tostring touint32 touint64 tounixtimestamp toyear toyyyymm toyyyymmdd translate try try_add try_divide
  try_parse_json try_strptime try_to_date try_to_decimal try_to_number try_to_timestamp tuple tupleelement type_id typeproperty tz_offset
  uncompress uncompressed_length uniform uniq uniqcombined uniqexact uniqhll12 uniqif unistr unistr_quote unix_date unix_micros unix_millis
  unix_seconds upperutf8 url_decode url_encode url_extract_host url_extract_parameter url_extract_path user_id validate_password_strength vsize
  weight_string width_bucket wm_concat word_stem xact_state xmlget xxhash64 yesterday zeroifnull zip zip_with zipf`

export const harmlessAnywhere: ReadonlySet<string> = new Set(NAMES.split(/\s+/))
