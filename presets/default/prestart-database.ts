import { prestartThread } from 'guard-gateway/plugins/storage/sqlite/thread'

/** Starts the database thread before other modules load, for commands that wait for it. */
export const prestartDatabase = ([group, command, ...more]: readonly string[]): void => {
  if (command !== 'run' || more.some((word) => word === '--help' || word === '-h')) return
  if (group === 'gateway' || (group === 'mcp' && more.includes('--'))) prestartThread()
}
