import type { Profile } from '../profile.ts'
import { aider } from './aider.ts'
import { claudeCode } from './claude-code.ts'
import { cline } from './cline.ts'
import { codex } from './codex.ts'
import { continueDev } from './continue.ts'
import { copilot } from './copilot.ts'
import { crush } from './crush.ts'
import { cursor } from './cursor.ts'
import { gemini } from './gemini.ts'
import { goose } from './goose.ts'
import { kilo } from './kilo.ts'
import { opencode } from './opencode.ts'
import { pi } from './pi.ts'
import { qwenCode } from './qwen-code.ts'
import { sdks } from './sdks.ts'
import { zed } from './zed.ts'

/** All clients, in display order. */
export const profiles: readonly Profile[] = [
  claudeCode,
  codex,
  opencode,
  cline,
  continueDev,
  gemini,
  qwenCode,
  copilot,
  kilo,
  pi,
  crush,
  goose,
  zed,
  aider,
  cursor,
  sdks,
]

/** Profile of an id or of a command's base name. An unknown command is treated as an SDK. */
export const profileOf = (command: string): Profile =>
  profiles.find(({ id, commands }) => id === command || commands.includes(command)) ?? sdks
