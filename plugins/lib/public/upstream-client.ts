export * from '../upstream-client.ts'
