import { execFile } from 'node:child_process'
import type { Io } from '#lib/command'
import type { ServiceSetting } from './setting.ts'

/** What a service manager knows of the service. */
export interface ServiceState {
  /** It starts by itself. */
  readonly enabled: boolean
  readonly running: boolean
  /** It has given up, or has been stopped. */
  readonly ended: boolean
  readonly pid: number | null
  /** When it was started, as the manager writes it. */
  readonly since: string | null
  /** The exit code of its last end; null if there was none. */
  readonly exit_code: number | null
}

/** What starts services of a user: systemd or launchd. */
export interface ServiceManager {
  /** The file that describes the service. */
  readonly file: string
  /** Commands for people. */
  readonly log: string
  readonly restart: string
  /** Whose log is not bounded by the system; undefined elsewhere. */
  readonly log_file?: string
  /** The text of the file, with the place for a receipt. Throws USAGE for a path that it cannot hold. */
  text(setting: ServiceSetting): string
  /** Loads the file, lets it start by itself from now on, and starts it anew. Throws SERVICE_FAILED. */
  start(): Promise<void>
  /** Stops the service, so that it does not start any more; not an error where it was not there. */
  stop(): Promise<void>
  /** After the file has been removed. */
  forget(): Promise<void>
  state(): Promise<ServiceState>
  /** The last lines that it wrote, as far as they can be had. */
  lastLines(): Promise<string>
  /** What else there is to know, one sentence each. */
  notices(): Promise<readonly string[]>
}

/** The end of a program. `code` is null where it could not be started. */
export interface ProgramResult {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

const TIMEOUT_MS = 60_000

/** Runs a program found on the path of the command's environment. */
export const runProgram = (name: string, args: readonly string[], { env }: Pick<Io, 'env'>): Promise<ProgramResult> =>
  new Promise((resolve) => {
    execFile(name, [...args], { env: { ...env }, timeout: TIMEOUT_MS, maxBuffer: 1 << 20 }, (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null
      resolve({ code, out, err: err === '' && error !== null ? error.message : err })
    })
  })

/** The first line of what a program complained of. */
export const complaint = ({ out, err }: ProgramResult): string => (err.trim() || out.trim()).split('\n', 1)[0] ?? ''
