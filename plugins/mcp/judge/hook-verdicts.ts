import type { Gateway } from 'guard-gateway/core'
import type { PinState } from '../audit/enums.ts'
import { mcpHooks } from '../hooks.ts'
import type { Policy } from '../policy/index.ts'
import type { ToolCall } from './tool-call.ts'
import type { PartialVerdict } from './verdict.ts'

/** How long plugins may take to judge a call, in milliseconds. */
const HOOK_MS = 10_000

/** Opinions about a call that come from its pin and from plugins. `isServers`: the pin is that of what the server says of itself. */
export const hookVerdicts = (
  gateway: Gateway,
  call: ToolCall,
  policy: Policy,
  pin: PinState,
  isServers: boolean,
): readonly PartialVerdict[] | Promise<readonly PartialVerdict[]> => {
  const opinions: PartialVerdict[] = []
  const action = policy.ofPin(pin)
  if (action !== undefined) {
    const ofTool = pin === 'new' ? 'the tool appeared after the others were trusted' : 'its definition changed'
    const reason = isServers ? 'the instructions of the server changed' : ofTool
    opinions.push({ rule_id: 'pin', action, reason })
  }
  const { call: hook } = mcpHooks(gateway)
  if (!hook.isUsed()) return opinions
  return withTimeout(gateway, hook.promise(call)).then((opinion) =>
    opinion === undefined ? opinions : [...opinions, opinion],
  )
}

const unable: PartialVerdict = { rule_id: 'plugin', action: 'deny', reason: 'a plugin could not judge the call' }

/** Waits for the plugins. A plugin that fails or takes too long denies the call. */
const withTimeout = async (
  gateway: Gateway,
  opinion: Promise<PartialVerdict | undefined>,
): Promise<PartialVerdict | undefined> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<PartialVerdict>((resolve) => {
    timer = setTimeout(() => resolve(unable), HOOK_MS)
  })
  try {
    return await Promise.race([opinion, late])
  } catch (error) {
    gateway.fault(error, 'mcp:call')
    return unable
  } finally {
    clearTimeout(timer)
  }
}
