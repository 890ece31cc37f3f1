import { hostname } from 'node:os'

const started = Date.now() - Math.round(process.uptime() * 1000)

/** Who writes: this host and process, told apart from a later process of the same number by its start. */
export const writer = `${hostname()}:${process.pid}:${started}`

/** Whether a process that wrote under this name ran on this host and does not run any more. */
export const hasGone = (last: string): boolean => {
  const [host, pid] = last.split(':')
  if (last === writer || host !== hostname()) return false
  if (Number(pid) === process.pid) return true
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
