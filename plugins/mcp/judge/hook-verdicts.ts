import type { Gateway } from 'guard-gateway/core'
import type { PinState } from '../audit/enums.ts'
import { mcpHooks } from '../hooks.ts'
import type { Policy } from '../policy/index.ts'
import type { ToolCall } from './tool-call.ts'
import type { Opinion } from './verdict.ts'

/** How long plugins may think about a call, in milliseconds. */
const HOOK_MS = 10_000

/** What others than the rules think of a call: its pin, that of what the server says of itself if `isServers`, and plugins. */
export const hookVerdicts = (
  gateway: Gateway,
  call: ToolCall,
  policy: Policy,
  pin: PinState,
  isServers: boolean,
): readonly Opinion[] | Promise<readonly Opinion[]> => {
  const opinions: Opinion[] = []
  const action = policy.ofPin(pin)
  if (action !== undefined) {
    const ofTool = pin === 'new' ? 'the tool appeared after the others were trusted' : 'its definition changed'
    const reason = isServers ? 'the instructions of the server changed' : ofTool
    opinions.push({ rule_id: 'pin', action, reason })
  }
  const { call: hook } = mcpHooks(gateway)
  if (!hook.isUsed()) return opinions
  return inTime(gateway, hook.promise(call)).then((said) => (said === undefined ? opinions : [...opinions, said]))
}

const unable: Opinion = { rule_id: 'plugin', action: 'deny', reason: 'a plugin could not judge the call' }

/** A plugin that fails or takes too long cannot tell, which counts against the call. */
const inTime = async (gateway: Gateway, said: Promise<Opinion | undefined>): Promise<Opinion | undefined> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Opinion>((resolve) => {
    timer = setTimeout(() => resolve(unable), HOOK_MS)
  })
  try {
    return await Promise.race([said, late])
  } catch (error) {
    gateway.fault(error, 'mcp:call')
    return unable
  } finally {
    clearTimeout(timer)
  }
}
