import type { ProfileSettings } from './profile-settings.ts'

/** A file of a profile, below the profiles' folder. */
export interface ProfileFile {
  readonly path: string
  readonly text: string
}

/** What `guard run` gives a client's process. */
export interface Launch {
  readonly env: Readonly<Record<string, string>>
  /** Variables that hold the key. */
  readonly key_variables: readonly string[]
  /** Variables whose lines the client sends as headers. */
  readonly header_variables?: readonly string[]
  /** Those of them that carry the key, too, beside the user's own login. */
  readonly key_headers?: readonly string[]
  /** Names of variables that hold that login. */
  readonly logins?: RegExp
  /** Variables that would lead it around the gateway, and that it is told to forget. */
  readonly around?: readonly string[]
  /** Every request of it says whose it is. */
  readonly is_labelled?: true
  /** Inserted after the command's name. */
  readonly flags: readonly string[]
}

/** How one client is pointed at the gateway, and what it does then. */
export interface Profile {
  readonly id: string
  readonly title: string
  /** The version whose behaviour is described here. */
  readonly tested_with: string
  /** API style it speaks. */
  readonly style: string
  /** Base names of its command. */
  readonly commands: readonly string[]
  /** It cannot be set up without a model's name. */
  readonly needs_model?: boolean
  /** It can show the user's own login beside the gateway's key. */
  readonly can_bring_login?: true
  /** Why nothing is written; the rest then says what does work. */
  readonly impossible?: string
  files(setting: ProfileSettings): readonly ProfileFile[]
  /** Lines to type, in order. */
  use(setting: ProfileSettings): readonly string[]
  undo(setting: ProfileSettings): string
  /** What else whoever uses it should know or do. */
  note?(setting: ProfileSettings): string | undefined
  /** What it sends to tell its sessions apart. */
  readonly session: string
  /** What it does when a request is blocked. */
  readonly on_block: string
  /** User-agent glob and status with which it stops at once and shows the message. */
  readonly block_status?: readonly [agents: string, status: number]
  /** Absent: it cannot be pointed elsewhere by environment and flags. */
  launch?(setting: ProfileSettings): Launch
}

/** The first line of a written file, by which a later run knows it as its own. */
export const MARK = 'written by guard setup'
