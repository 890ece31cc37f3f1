import { hostname } from 'node:os'

const started = Date.now() - Math.round(process.uptime() * 1000)

/** Identifies this process: host, process id, and start time, since process ids are reused. */
export const writer = `${hostname()}:${process.pid}:${started}`

/** True if the writer ran on this host and has exited. */
export const hasExited = (last: string): boolean => {
  const [host, pid] = last.split(':')
  if (last === writer || host !== hostname()) return false
  return Number(pid) === process.pid || isNone(pid)
}

/** True if a client's process, `host:pid`, ran on this host and has exited. */
export const clientHasExited = (client: string): boolean => {
  const [host, pid] = client.split(':')
  return host === hostname() && isNone(pid)
}

/** No process has this id. */
const isNone = (pid: string | undefined): boolean => {
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
