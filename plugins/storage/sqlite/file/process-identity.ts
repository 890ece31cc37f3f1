import { readFileSync, readlinkSync, statSync } from 'node:fs'
import { hostname } from 'node:os'

/** Identifies a process, also after its process id was used again. Stored as JSON in `guard_owner`. */
export interface ProcessIdentity {
  readonly pid: number
  readonly host: string
  /** The boot id of the system; null where it has none. */
  readonly boot: string | null
  /** The PID namespace, which containers have of their own; null where the system has no namespaces. */
  readonly space: string | null
  /** The start time of the process, in clock ticks after boot; null where it cannot be read. */
  readonly started: string | null
  /** Device and inode of the file that it owns: a copy of the database has no owner. */
  readonly node: string
}

const textOf = (name: string): string | null => {
  try {
    return readFileSync(name, 'latin1').trim()
  } catch {
    return null
  }
}

const pidNamespace = (): string | null => {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return null
  }
}

/** State and start time of a process on Linux: fields 3 and 22 of `/proc/<pid>/stat`, see proc(5). Field 2, the name, may hold any characters and ends with the last bracket. */
const statOf = (pid: number): { readonly state: string; readonly started: string } | undefined => {
  const text = textOf(`/proc/${pid}/stat`)
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, started] = [fields?.[0], fields?.[19]]
  return state === undefined || started === undefined ? undefined : { state, started }
}

/** Device and inode of a file, as text. */
export const fileId = (file: string): string => {
  const { dev, ino } = statSync(file, { bigint: true })
  return `${dev} ${ino}`
}

/** This process as the owner of a file. */
export const thisProcess = (file: string): ProcessIdentity => ({
  pid: process.pid,
  host: hostname(),
  boot: textOf('/proc/sys/kernel/random/boot_id'),
  space: pidNamespace(),
  started: statOf(process.pid)?.started ?? null,
  node: fileId(file),
})

/** Whether a process runs. `unknown`: its id means nothing on this system, or another process may have it by now. */
export const livenessOf = (owner: ProcessIdentity, me: ProcessIdentity): 'alive' | 'gone' | 'unknown' => {
  if (owner.host === me.host && owner.boot !== me.boot) return 'gone'
  if (owner.boot !== me.boot || owner.space !== me.space) return 'unknown'
  // without boot ids and namespaces only the host names can differ
  if (me.boot === null && owner.host !== me.host) return 'unknown'
  if (owner.started !== null) {
    const stat = statOf(owner.pid)
    return stat !== undefined && stat.started === owner.started && !'ZX'.includes(stat.state) ? 'alive' : 'gone'
  }
  if (owner.pid === me.pid) return 'alive'
  return exists(owner.pid) ? 'unknown' : 'gone'
}

const exists = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
