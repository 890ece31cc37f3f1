/** Functions that read their arguments and the clock, and nothing else: no files, settings, locks, sequences, sessions, other databases. */
const EVERYWHERE = `abs acos asin atan atan2 avg cast ceil ceiling char_length character_length coalesce concat concat_ws cos cot count
  cume_dist current_date current_time current_timestamp date degrees dense_rank exp extract first_value floor format greatest group_concat hex if
  ifnull iif instr lag last_value lcase lead least left length ln localtime localtimestamp locate log log10 log2 lower lpad ltrim max mid min mod now
  nth_value ntile nullif octet_length percent_rank pi position pow power radians rank replace reverse right round row_number rpad rtrim sign sin
  sqrt strftime substr substring sum tan time total trim trunc truncate typeof ucase unhex unicode upper year month day hour minute second week
  quarter dayofweek dayofmonth dayofyear dayname monthname datediff timestampdiff date_add date_sub date_format datetime julianday unixepoch
  from_unixtime unix_timestamp str_to_date last_day curdate curtime utc_timestamp json_extract json_array json_object json_valid json_type
  json_array_length json_length json_keys json_contains json_unquote json_each json_tree json_group_array json_group_object json_arrayagg
  json_objectagg stddev variance std stddev_pop stddev_samp var_pop var_samp bit_length ascii char space strcmp soundex printf quote likely
  unlikely likelihood find_in_set field elt substring_index any_value isnull convert`

const POSTGRES = `abs acos acosd acosh age any_value array_agg array_append array_cat array_dims array_fill array_length array_lower array_ndims
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
  pg_get_viewdef pg_indexes_size pg_is_in_recovery pg_postmaster_start_time pg_relation_size pg_size_bytes pg_size_pretty pg_table_is_visible
  pg_table_size pg_tablespace_size pg_total_relation_size pg_typeof pg_function_is_visible pg_type_is_visible int4range int8range numrange tsrange
  tstzrange daterange int4multirange int8multirange nummultirange tsmultirange tstzmultirange datemultirange json_populate_record
  json_populate_recordset jsonb_populate_record jsonb_populate_recordset inet_server_addr inet_server_port inet_client_addr inet_client_port
  pg_backend_pid pg_blocking_pids pg_client_encoding pg_encoding_to_char pg_get_keywords pg_get_partkeydef pg_get_statisticsobjdef pg_has_role
  has_function_privilege has_sequence_privilege to_regproc to_regprocedure to_regnamespace to_regrole convert_from convert_to`

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

/** Per grammar: PostgreSQL's own, and those that no other database reads as something else. */
export const harmlessFunctions = { postgres: words(POSTGRES), plain: words(EVERYWHERE) }
