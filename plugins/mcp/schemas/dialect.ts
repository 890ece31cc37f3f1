/** The two versions of JSON Schema that servers write. */
export type Dialect = '2020-12' | 'draft-07'

const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['http://json-schema.org/draft-07/schema', 'draft-07'],
  ['https://json-schema.org/draft-07/schema', 'draft-07'],
])

/** The dialect a schema names in `$schema`, 2020-12 if it names none; undefined for one that is not understood. */
export const dialectOf = (schema: unknown): Dialect | undefined => {
  const named = typeof schema === 'object' && schema !== null ? (schema as { $schema?: unknown }).$schema : undefined
  if (named === undefined) return '2020-12'
  return typeof named === 'string' ? DIALECTS.get(named.replace(/#$/, '')) : undefined
}
