export * from '../page.ts'
