import type { Profile } from '../profile.ts'
import { aider } from './aider.ts'
import { claudeCode } from './claude-code.ts'
import { cline } from './cline.ts'
import { codex } from './codex.ts'
import { continueDev } from './continue.ts'
import { cursor } from './cursor.ts'
import { opencode } from './opencode.ts'
import { sdks } from './sdks.ts'

/** Every client that is known, in the order in which they are told. */
export const profiles: readonly Profile[] = [claudeCode, codex, opencode, cline, continueDev, aider, cursor, sdks]

/** The profile of an id or of a command's base name; what nobody knows is treated as something that uses an SDK. */
export const profileOf = (command: string): Profile =>
  profiles.find(({ id, commands }) => id === command || commands.includes(command)) ?? sdks
