import { hostname } from 'node:os'

const started = Date.now() - Math.round(process.uptime() * 1000)

/** Who writes: this host and process, told apart from a later process of the same number by its start. */
export const writer = `${hostname()}:${process.pid}:${started}`

/** Whether a process that wrote under this name ran on this host and does not run any more. */
export const hasGone = (last: string): boolean => {
  const [host, pid] = last.split(':')
  if (last === writer || host !== hostname()) return false
  return Number(pid) === process.pid || isNone(pid)
}

/** Whether a client's process, `host:pid`, ran on this host and does not run any more. */
export const clientHasGone = (client: string): boolean => {
  const [host, pid] = client.split(':')
  return host === hostname() && isNone(pid)
}

/** No process has this number. */
const isNone = (pid: string | undefined): boolean => {
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
