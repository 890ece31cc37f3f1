import type { Absent, Agent } from '../agent.ts'
import { claudeCode } from './claude-code.ts'
import { cline } from './cline.ts'
import { codex, codexWebSocket } from './codex.ts'
import { continueCli } from './continue.ts'
import { copilot } from './copilot.ts'
import { gemini } from './gemini.ts'
import { kilo } from './kilo.ts'
import { openCodeWebSocket, opencode } from './opencode.ts'
import { pi } from './pi.ts'
import { qwenCode } from './qwen-code.ts'

export const agents: readonly Agent[] = [
  claudeCode,
  codex,
  codexWebSocket,
  opencode,
  openCodeWebSocket,
  pi,
  qwenCode,
  copilot,
  continueCli,
  cline,
  kilo,
  gemini,
]

/** Agents that people use and that cannot be played here. */
export const absent: readonly Absent[] = [{ id: 'mini-swe', reason: 'mini-swe-agent is not in npm' }]
