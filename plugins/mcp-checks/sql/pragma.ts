import type { Token } from './lex.ts'

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
export const isReadingPragma = (tokens: readonly Token[]): boolean => {
  if (tokens[0]?.text !== 'pragma') return false
  const [name, ...rest] = tokens.slice(tokens[2]?.text === '.' ? 3 : 1)
  if (name?.kind !== 'word') return false
  if (rest.length === 0) return READING.has(name.text) || READING_ALONE.has(name.text)
  const [open, value, close, ...more] = rest
  if (open?.text !== '(' || value?.kind === 'mark' || close?.text !== ')' || more.length > 0) return false
  return READING.has(name.text)
}
