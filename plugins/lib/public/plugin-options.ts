export * from '../plugin-options.ts'
