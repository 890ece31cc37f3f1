export { errorIn } from './errors/error-response.ts'
export { knownFilters } from './errors/known-filters.ts'
export { wayOut } from './errors/recovery-hint.ts'
export { schemaFault } from './errors/schema-error.ts'
