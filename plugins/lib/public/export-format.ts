export * from '../export-format.ts'
