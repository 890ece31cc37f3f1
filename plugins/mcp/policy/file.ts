import { type Stats, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import type { Limits } from '../actions/limits.ts'
import type { Policies, PolicyChange, PolicyListener, PolicyState } from './index.ts'
import type { Policy } from './policy.ts'

/** How a policy file is read and what goes along. */
export interface FileUsers {
  /** Throws GuardError INVALID_POLICY for a text that cannot be used. */
  readonly read: (text: Buffer) => Promise<Policy>
  readonly limits: Limits
  readonly now: () => number
  readonly fault: (error: unknown, where: string) => void
}

/** Tells one content of a file from another without reading it; undefined: the file is not there. Times as doubles, finer than file systems keep them. */
type Print = Pick<Stats, 'mtimeMs' | 'ctimeMs' | 'size' | 'ino'> | undefined

/** The file's stats now; a file that cannot be read counts as absent. */
const statOf = (file: string): Print => {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

const isSame = (one: Print, other: Print): boolean =>
  one?.mtimeMs === other?.mtimeMs &&
  one?.ctimeMs === other?.ctimeMs &&
  one?.size === other?.size &&
  one?.ino === other?.ino

/** Keeps the policy of a file in force: looks before each call whether the file changed, and keeps the last good one. */
export class PolicyFile implements Policies {
  readonly #file: string
  readonly #use: FileUsers
  readonly #listeners = new Set<PolicyListener>()
  #policy: Policy
  #print: Print
  #loadedAt: number
  #error: string | null = null
  #loading: Promise<Policy> | undefined

  private constructor(file: string, use: FileUsers, policy: Policy, print: Print) {
    this.#file = file
    this.#use = use
    this.#policy = policy
    this.#print = print
    this.#loadedAt = use.now()
  }

  /** Throws GuardError INVALID_POLICY where the file is missing or cannot be used. */
  static async open(file: string, use: FileUsers): Promise<PolicyFile> {
    const { content, print } = await wholeContent(file, statOf(file))
    return new PolicyFile(file, use, await use.read(content), print)
  }

  current(): Policy | Promise<Policy> {
    if (this.#loading === undefined) {
      const print = statOf(this.#file)
      if (isSame(print, this.#print)) return this.#policy
      this.#loading = this.#load(print).finally(() => {
        this.#loading = undefined
      })
    }
    // What arrives while an older content is read is judged by the newer one.
    return this.#loading.then(() => this.current())
  }

  state(): PolicyState {
    const { version, mode } = this.#policy
    return { file: this.#file, version, mode, loaded_at: this.#loadedAt, error: this.#error }
  }

  onChange(listener: PolicyListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  endSession(session_id: string): void {
    this.#use.limits.endSession(session_id)
  }

  async #load(seen: Print): Promise<Policy> {
    const previous = this.#policy
    this.#print = seen
    try {
      const { content, print } = await wholeContent(this.#file, seen)
      this.#print = print
      this.#policy = await this.#use.read(content)
      this.#loadedAt = this.#use.now()
      this.#error = null
      this.#tell({ kind: 'policy.changed', previous, current: this.#policy, state: this.state() })
    } catch (error) {
      this.#error = error instanceof Error ? error.message : String(error)
      this.#use.fault(error, 'mcp policy')
      this.#tell({ kind: 'policy.rejected', previous, current: previous, state: this.state() })
    }
    return this.#policy
  }

  #tell(change: PolicyChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        this.#use.fault(error, 'mcp policy listener')
      }
    }
  }
}

/** How often a file is read again because it changed meanwhile. */
const READS = 5

/** The content and its stats, which were the same before and after the read. */
const wholeContent = async (
  file: string,
  seen: Print,
): Promise<{ readonly content: Buffer; readonly print: Print }> => {
  let before = seen
  for (let reads = 1; ; reads++) {
    const content = await contentOf(file)
    const print = statOf(file)
    if (isSame(print, before) || reads === READS) return { content, print: before }
    before = print
  }
}

const contentOf = async (file: string): Promise<Buffer> => {
  try {
    return await readFile(file)
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT'
    const detail = `${basename(file)}: ${missing ? 'does not exist' : 'cannot be read'} (${file})`
    throw new GuardError('INVALID_POLICY', detail, { cause })
  }
}
