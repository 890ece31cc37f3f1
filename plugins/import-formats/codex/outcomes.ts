import { type JsonObject, jsonObjectOf, readJson } from 'guard-gateway/lib/json'

/** How a call went, by an event. */
interface CallOutcome {
  readonly call_id: string
  readonly failed: boolean
}

/** What an event tells of the end of a call; undefined for other events. */
export const outcomeOf = (payload: JsonObject): CallOutcome | undefined => {
  const { type, call_id, exit_code, success, result } = payload
  if (type === 'item_completed') return ofItem(jsonObjectOf(payload.item))
  if (typeof call_id !== 'string') return undefined
  if (type === 'exec_command_end') return { call_id, failed: exit_code !== 0 }
  if (type === 'patch_apply_end') return { call_id, failed: success === false }
  if (type === 'mcp_tool_call_end') return { call_id, failed: Object.hasOwn(jsonObjectOf(result), 'Err') }
  return undefined
}

const ofItem = ({ id, status }: JsonObject): CallOutcome | undefined =>
  typeof id === 'string' && (status === 'completed' || status === 'failed')
    ? { call_id: id, failed: status === 'failed' }
    : undefined

/** Stands at the beginning of what a command printed. */
const EXIT_CODE = /^(?:[A-Z][^\n]*\n){0,4}(?:Process exited with code|Exit code:) (-?\d+)/

/** Whether a result itself says that its call failed. */
export const hasFailed = (output: unknown): boolean => {
  if (typeof output !== 'string') return jsonObjectOf(output).success === false
  const code = EXIT_CODE.exec(output.slice(0, 1_000))?.[1]
  if (code !== undefined) return code !== '0'
  return output.startsWith('{') && exitCodeIn(output) > 0
}

/** Versions of 2025 put output and metadata into JSON. */
const exitCodeIn = (output: string): number => {
  try {
    return Number(jsonObjectOf(jsonObjectOf(readJson(output)).metadata).exit_code ?? 0)
  } catch {
    return 0
  }
}
