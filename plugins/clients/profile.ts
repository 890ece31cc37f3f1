import type { ProfileSettings } from './profile-settings.ts'

/** A file of a profile. The path is relative to the profiles' folder. */
export interface ProfileFile {
  readonly path: string
  readonly text: string
}

/** Environment and flags of a client's process in `guard run`. */
export interface Launch {
  readonly env: Readonly<Record<string, string>>
  readonly key_variables: readonly string[]
  /** Variables whose lines the client sends as headers. */
  readonly header_variables?: readonly string[]
  /** Header variables that also carry the key, beside the user's own login. */
  readonly key_headers?: readonly string[]
  /** Pattern of the variables that hold the login. */
  readonly logins?: RegExp
  /** Variables that would bypass the gateway. They are unset. */
  readonly bypass_variables?: readonly string[]
  /** Every request carries the label headers. */
  readonly is_labelled?: true
  /** Arguments after the command's name. */
  readonly flags: readonly string[]
  /** Files in the run's folder, which is removed at its end. */
  readonly files?: readonly ProfileFile[]
  /** Links in that folder to what is there of the user's own. */
  readonly links?: readonly { readonly path: string; readonly target: string }[]
  /** API styles of its requests, if others than those of the profile. */
  readonly styles?: readonly string[]
}

/** How one client connects to the gateway, and how it behaves then. */
export interface Profile {
  readonly id: string
  readonly title: string
  /** Tested version of the client; absent if only its documentation was read. */
  readonly tested_with?: string
  readonly style: string
  /** All styles that it can be told to speak, if there are several. */
  readonly styles?: readonly string[]
  /** Base names of the client's command. */
  readonly commands: readonly string[]
  /** The profile needs a model name. */
  readonly needs_model?: boolean
  /** `guard run` needs one too, unless one of these variables or flags of the client names it. */
  readonly run_needs_model?: readonly string[]
  /** What of a session name the client would not send as it is, but read as a header, a reference or a command. */
  readonly session_signs?: RegExp
  /** Variable by which the user may have chosen another folder than the home for its settings. */
  readonly home_variable?: string
  /** The client can send the user's own login beside the gateway key. */
  readonly supports_own_login?: true
  /** Why no profile is written. The other fields then describe what works. */
  readonly impossible?: string
  files(setting: ProfileSettings): readonly ProfileFile[]
  /** Command lines of the user, in order. */
  use(setting: ProfileSettings): readonly string[]
  undo(setting: ProfileSettings): string
  /** Further advice for the user. */
  note?(setting: ProfileSettings): string | undefined
  /** How the client identifies its sessions. */
  readonly session: string
  /** How the client reacts to a blocked request. */
  readonly on_block: string
  /** User-agent glob, and the status at which the client stops at once and prints the message. */
  readonly block_status?: readonly [agents: string, status: number]
  /** Absent if environment and flags cannot point the client at the gateway. */
  launch?(setting: ProfileSettings): Launch
}

/** First line of a written file. A later run recognises its own files by it. */
export const MARK = 'written by guard setup'
