export * from '../notifier.ts'
