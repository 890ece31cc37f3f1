import { prestartThread } from 'guard-gateway/plugins/storage/sqlite/thread'

/** Commands that somebody waits for until their database is open: its thread starts before anything else is loaded. */
export const openAhead = ([group, command, ...more]: readonly string[]): void => {
  if (command !== 'run' || more.some((word) => word === '--help' || word === '-h')) return
  if (group === 'gateway' || (group === 'mcp' && more.includes('--'))) prestartThread()
}
