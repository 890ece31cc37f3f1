import { readFileSync, readlinkSync, statSync } from 'node:fs'
import { hostname } from 'node:os'

/** A process, so that it can be told from later ones of its number. */
export interface Owner {
  readonly pid: number
  readonly host: string
  /** Of the running system; null where it gives none. */
  readonly boot: string | null
  /** Among which processes the number is counted: containers have their own. Null where the system knows no such thing. */
  readonly space: string | null
  /** When it began, as the system counts; null where that cannot be read. */
  readonly started: string | null
  /** The file that it has, by device and inode: a copy of a database is nobody's. */
  readonly node: string
}

const textOf = (name: string): string | null => {
  try {
    return readFileSync(name, 'latin1').trim()
  } catch {
    return null
  }
}

const space = (): string | null => {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return null
  }
}

/** State and start of a process by Linux's account (proc(5), `stat`): fields 3 and 22. Its name, field 2, may hold anything but ends with the last bracket. */
const statOf = (pid: number): { readonly state: string; readonly started: string } | undefined => {
  const text = textOf(`/proc/${pid}/stat`)
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, started] = [fields?.[0], fields?.[19]]
  return state === undefined || started === undefined ? undefined : { state, started }
}

export const nodeOf = (file: string): string => {
  const { dev, ino } = statSync(file, { bigint: true })
  return `${dev} ${ino}`
}

/** This process as the owner of a file. */
export const thisProcess = (file: string): Owner => ({
  pid: process.pid,
  host: hostname(),
  boot: textOf('/proc/sys/kernel/random/boot_id'),
  space: space(),
  started: statOf(process.pid)?.started ?? null,
  node: nodeOf(file),
})

/** Whether a process is there; `unknown` where its number says nothing here, or may be another one's by now. */
export const lifeOf = (owner: Owner, me: Owner): 'alive' | 'gone' | 'unknown' => {
  if (owner.host === me.host && owner.boot !== me.boot) return 'gone'
  if (owner.boot !== me.boot || owner.space !== me.space) return 'unknown'
  // where the system tells neither, the names of machines must do
  if (me.boot === null && owner.host !== me.host) return 'unknown'
  if (owner.started !== null) {
    const stat = statOf(owner.pid)
    return stat !== undefined && stat.started === owner.started && !'ZX'.includes(stat.state) ? 'alive' : 'gone'
  }
  if (owner.pid === me.pid) return 'alive'
  return isThere(owner.pid) ? 'unknown' : 'gone'
}

const isThere = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
