import { type Gateway, GuardError } from 'guard-gateway/core'
import type { Input, Io } from '#lib/command'
import { readJsonStrict, writeJson } from '#lib/json'
import type { Arguments } from '#lib/mcp-check'
import { type Colour, paintedWord, painter } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import type { ToolCall } from '../judge/tool-call.ts'
import { fileContent, textOption } from './command-files.ts'
import { type Explanation, explainCall, type RuleAccount } from './explain.ts'
import { loadPolicy } from './load.ts'
import { callerOf } from './tests.ts'

const MAX_DEPTH = 128
const CALLER_FLAGS = ['agent', 'project', 'session', 'client', 'key'] as const

/** Prints what a policy says of one call and why; 0, or 1 if the policy cannot be used. */
export const explainPolicy = async (gateway: Gateway, { options }: Input, io: Io): Promise<number> => {
  const file = needOption(options, 'policy', '--policy <file>')
  const tool = needOption(options, 'tool', '--tool <name>')
  const loaded = await loadPolicy(
    gateway,
    { text: await fileContent(file, io) },
    { env: io.env, own_files: [...gateway.ownFiles] },
  )
  if (loaded.policy === undefined) {
    const [first] = loaded.errors
    const place = first?.line === null ? '' : `:${first?.line}:${first?.column}`
    const path = first === undefined || first.path.length <= 1 ? '' : `${first.path.slice(1)}: `
    throw new GuardError('INVALID_POLICY', `${file}${place}: ${path}${first?.message}`)
  }
  const call = await callOf(tool, options, io, gateway.clock.now())
  const explanation = await explainCall(gateway, loaded.policy, call)
  io.out.write(
    options.json === true ? `${writeJson(explanation)}\n` : report(explanation, call, painter({ options }, io)),
  )
  return 0
}

const needOption = (options: Input['options'], name: string, flag: string): string => {
  const value = textOption(options, name)
  if (value === undefined) throw new GuardError('USAGE', `Say which: ${flag}.`)
  return value
}

const callOf = async (tool: string, options: Input['options'], io: Io, at: number): Promise<ToolCall> => {
  const argumentsText = textOption(options, 'arguments') ?? '{}'
  const bytes = argumentsText.startsWith('@')
    ? await fileContent(argumentsText.slice(1), io)
    : Buffer.from(argumentsText)
  const value = readJsonStrict(bytes, { max_depth: MAX_DEPTH, unique: true })
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new GuardError('USAGE', 'The arguments of a tool call are a JSON object.')
  }
  const text = bytes.toString('utf8')
  const server_id = textOption(options, 'serverId') ?? 'test'
  const args = JSON.parse(text) as Arguments
  const named = Object.fromEntries(CALLER_FLAGS.map((name) => [name, textOption(options, name)]))
  return { server_id, session_id: 'mcp_explain', tool, caller: callerOf(named), arguments: args, text, cwd: io.cwd, at }
}

type Paint = (text: string, colour: Colour) => string

const report = ({ verdict, forwarded, rules }: Explanation, { tool, server_id }: ToolCall, paint: Paint): string => {
  const { action, mode, policy_version, winners, sent } = verdict
  const ids = winners.map(({ rule_id }) => rule_id).join(', ')
  const lines = [
    `${paintedWord(action, paint)}  ${terminalLine(tool)} on "${terminalLine(server_id)}" by ${ids}; ${forwarded ? 'forwarded' : 'not forwarded'}`,
    `mode ${mode}, policy version ${policy_version.slice(0, 12)}`,
    ...rules.map((rule) => line(rule, paint)),
    ...(sent === undefined ? [] : [`sends ${terminalLine(sent.text)}`]),
  ]
  return `${lines.join('\n')}\n`
}

const line = ({ rule_id, speaks, action, why, wins, findings }: RuleAccount, paint: Paint): string => {
  const first = `  ${wins ? '*' : ' '} ${rule_id}  ${paintedWord(speaks ? String(action) : 'silent', paint)}  ${terminalLine(why)}`
  const more = findings.slice(1).map(({ pointer, reason }) => `      ${terminalLine(`${pointer} ${reason}`)}`)
  return [first, ...more].join('\n')
}
