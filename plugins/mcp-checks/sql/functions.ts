/** Functions that read their arguments and the clock, and nothing else: no files, settings, locks, sequences, sessions, other databases. */
const EVERYWHERE = `overlay abs acos asin atan atan2 avg cast ceil ceiling char_length character_length coalesce concat concat_ws cos cot count
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
  suser_sname suser_name user_name host_name app_name columnproperty objectproperty serverproperty`

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
  pg_stat_get_last_vacuum_time pg_stat_get_last_autovacuum_time pg_stat_get_last_analyze_time pg_stat_get_last_autoanalyze_time`

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

/** Per grammar: PostgreSQL's own, and those that no other database reads as something else. */
export const harmlessFunctions = { postgres: words(POSTGRES), plain: words(EVERYWHERE) }
