export * from '../command.ts'
