import { resolve } from 'node:path'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { escapeInvisible } from '#lib/html'
import { isJsonObject } from '#lib/json'
import { type Arguments, mcpCheckKind } from '#lib/mcp-check'
import { canonicalJson } from '#lib/trace'
import { editYaml, type YamlEdit } from '#lib/yaml'
import { type ApprovalRow, approvalById } from '../approvals/index.ts'
import type { DraftedTool } from '../draft/drafted-tool.ts'
import { propertiesOf } from '../draft/schema-parts.ts'
import { toolsOnRecord } from '../draft/tools-on-record.ts'
import { mcpErrors } from '../error-codes.ts'
import type { Caller } from '../judge/tool-call.ts'
import type { Mcp } from '../mcp.ts'
import { callerLists } from '../policy/callers.ts'
import type { CompiledPolicy } from '../policy/compiled.ts'
import type { PolicyDocument, TestDocument } from '../policy/document.ts'
import { explainCall } from '../policy/explain.ts'
import { type LoadedPolicy, type LoadOptions, loadPolicy } from '../policy/load.ts'
import { readPolicy } from '../policy/read.ts'
import { ArgumentSource, type RecordedArguments } from '../simulate/recorded-arguments.ts'
import { callerOf } from '../simulate/recorded-caller.ts'
import { folderOf, type PolicySimulation, simulatePolicy } from '../simulate/simulate-policy.ts'
import { likenessOf, type Width } from './likeness.ts'
import { policyText } from './policy-text.ts'
import { type RuleEdits, ruleEdits } from './rule-edits.ts'

/** A rule that lets calls like one pass, and what a policy with it would have said of what is on record. */
export interface RuleProposal {
  readonly width: Width
  readonly rule_id: string
  /** The rule as YAML, as an element of the list of rules. */
  readonly yaml: string
  /** What else changes in the policy. */
  readonly changes: readonly string[]
  /** Why calls like this would not pass, or the policy could not be used: then nothing can be written. */
  readonly stuck: readonly string[]
  /** The policy file; null where none is configured. */
  readonly file: string | null
  /** Of the policy as the file has it. */
  readonly policy_version: string | null
  readonly before: string
  /** The text of the changed policy; null where it cannot be made. */
  readonly after: string | null
  /** What the changed policy would have said of calls of this tool on record. */
  readonly preview: PolicySimulation | null
}

/** Makes a rule of a call that a person was asked about. Throws APPROVAL_NOT_FOUND, ARGUMENTS_NOT_KEPT and RULE_NOT_WRITABLE. */
export const ruleProposal = async (mcp: Mcp, id: string, width: Width): Promise<RuleProposal> => {
  const { gateway, options } = mcp
  const row = await approvalById(gateway, mcp.approvals, id)
  const known = await argumentsOf(mcp, row)
  const tool = await toolOf(mcp, row, known.arguments)
  const file = (options.policy ?? '') === '' ? null : resolve(options.policy ?? '')
  const before = await policyText(file)
  const current = await loadPolicy(gateway, { text: before }, loadOptions(mcp))
  if (current.policy === undefined)
    throw new GuardError(
      mcpErrors.RULE_NOT_WRITABLE,
      `The policy file cannot be used as it is: ${current.errors[0]?.message}.`,
    )
  const document = (await readPolicy(before)).value as PolicyDocument
  const caller = await callerOnRecord(gateway, row)
  const like = await likenessOf(
    tool,
    known.arguments,
    width,
    gateway.registry(mcpCheckKind),
    folderOf(mcp, row.server_id),
  )
  const made = ruleEdits(document, row, like)
  const hidden = isPlain(made.rule) ? [] : ['its name or an argument hides something, or looks like something else']
  const tried =
    made.stuck.length + hidden.length > 0
      ? { stuck: hidden }
      : await triedOut(mcp, { row, known, caller }, before, made, document)
  // of all servers that the rule is about
  const [server_id, ...more] = made.rule.servers ?? []
  const filters = { tool: row.tool, ...(more.length > 0 || server_id !== row.server_id ? {} : { server_id }) }
  const preview = tried.after === undefined ? null : await simulatePolicy(mcp, { text: tried.after }, filters)
  const yaml = await import('yaml')
  return {
    ...{ width, rule_id: made.rule.id, changes: made.changes, file, before, preview },
    yaml: editYaml(yaml, 'rules:\n  - x\n', [{ append: ['rules'], value: made.rule }])
      .split('\n')
      .slice(2)
      .join('\n')
      .trimEnd(),
    stuck: [...made.stuck, ...(tried.stuck ?? [])],
    policy_version: current.policy.version,
    after: tried.after ?? null,
  }
}

const isPlain = (rule: object): boolean => {
  const text = JSON.stringify(rule)
  // JSON writes control characters and half characters by their numbers
  return escapeInvisible(text) === text && !/\\u[0-9a-f]{4}/.test(text)
}

const argumentsOf = async ({ gateway }: Mcp, row: ApprovalRow): Promise<RecordedArguments> => {
  const call = { argument_hash: row.argument_hash, approval_id: row.id, trace_id: row.trace_id, tool_call_id: null }
  const known = await new ArgumentSource(gateway).of(call)
  if (known === undefined) throw new GuardError(mcpErrors.ARGUMENTS_NOT_KEPT)
  if (known.isExact) return known
  throw new GuardError(
    mcpErrors.ARGUMENTS_NOT_KEPT,
    'Part of the arguments is redacted or left out on record, so no rule can be made of them.',
  )
}

/** The tool as it is listed; arguments that its list does not name are known by this call. */
const toolOf = async (mcp: Mcp, { server_id, tool }: ApprovalRow, args: Arguments): Promise<DraftedTool> => {
  const listed = (await toolsOnRecord(mcp, server_id)).find(({ name }) => name === tool)
  const listedSchema = isJsonObject(listed?.inputSchema) ? listed.inputSchema : {}
  const seen = Object.fromEntries(Object.entries(args).map(([name, value]) => [name, schemaOf(value)]))
  const inputSchema = { ...listedSchema, type: 'object', properties: { ...seen, ...propertiesOf(listedSchema) } }
  return { server_id, name: tool, title: null, description: null, annotations: {}, ...listed, inputSchema }
}

const schemaOf = (value: unknown): object => {
  if (Array.isArray(value)) return { type: 'array', items: value.length === 0 ? {} : schemaOf(value[0]) }
  if (typeof value !== 'object' || value === null) return { type: typeof value }
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(value).map(([name, part]) => [name, schemaOf(part)])),
  }
}

const loadOptions = ({ gateway, options }: Mcp): LoadOptions => {
  const { env, own_files = [], hide_denied_tools = false } = options
  return { ...(env === undefined ? {} : { env }), hide_denied_tools, own_files: [...gateway.ownFiles, ...own_files] }
}

const MAX_TEST_CHARS = 1_000

/** A call as it is on record. */
interface KnownCall {
  readonly row: ApprovalRow
  readonly known: RecordedArguments
  readonly caller: Caller
}

/** The call itself as a test of the policy, where it has tests and the call is short. */
const testEdit = (document: PolicyDocument, { row, known, caller }: KnownCall, rule: string): readonly YamlEdit[] => {
  const { server_id: server, tool } = row
  const call = { server, tool, ...namedIn(document, caller), arguments: known.arguments }
  if (document.tests === undefined || known.text.length > MAX_TEST_CHARS || !isPlain(call)) return []
  return [{ append: ['tests'], value: { call, expect: 'allow', rule } }]
}

/** The changed policy, once it is loaded, its tests pass and the call passes; else why not. */
const triedOut = async (
  mcp: Mcp,
  call: KnownCall,
  before: string,
  made: RuleEdits,
  document: PolicyDocument,
): Promise<{ readonly after?: string; readonly stuck?: readonly string[] }> => {
  const yaml = await import('yaml')
  let after: string
  try {
    after = editYaml(yaml, before, [...made.edits, ...testEdit(document, call, made.rule.id)])
  } catch (error) {
    if (!(error instanceof GuardError)) throw error
    return { stuck: [`the policy file is written in a way that cannot be changed here: ${error.message}`] }
  }
  const written = (await readPolicy(after)).value as PolicyDocument
  if (!isAsMeant(written, document, made)) return { stuck: ['the changed policy would not read as it is meant'] }
  const loaded = await loadPolicy(mcp.gateway, { text: after }, loadOptions(mcp))
  const stuck =
    loaded.policy === undefined || !loaded.valid ? [faultOf(loaded)] : await stillStopped(mcp, call, loaded.policy)
  return stuck.length > 0 ? { stuck } : { after }
}

const pathOf = (edit: YamlEdit): readonly (string | number)[] =>
  'replace' in edit ? edit.replace : 'append' in edit ? edit.append : edit.add

/** Beside the rule that is new, and those that asked, everything is as it was. */
const isAsMeant = (written: PolicyDocument, before: PolicyDocument, { rule, edits }: RuleEdits): boolean => {
  const changed = new Set(edits.flatMap((edit) => pathOf(edit)[1] ?? []))
  const { rules, tests: _tests, ...rest } = written
  const { rules: old, tests: _old, ...others } = before
  return (
    canonicalJson(rest) === canonicalJson(others) &&
    old.every((one, at) => changed.has(at) || canonicalJson(one) === canonicalJson(rules[at])) &&
    canonicalJson(rules.find(({ id }) => id === rule.id)) === canonicalJson(JSON.parse(JSON.stringify(rule)))
  )
}

const faultOf = ({ errors: [error], tests }: LoadedPolicy): string => {
  const failed = tests.find(({ pass }) => !pass)
  if (failed === undefined) return `the changed policy cannot be used: ${error?.message}`
  return `a test of the policy would fail: ${failed.name}: expected ${failed.expected}, got ${failed.actual}`
}

const stillStopped = async (mcp: Mcp, { row, known, caller }: KnownCall, policy: CompiledPolicy) => {
  const { gateway } = mcp
  const { server_id, tool, session_id } = row
  const { text, arguments: args } = known
  const call = {
    caller,
    server_id,
    tool,
    session_id,
    arguments: args,
    text,
    cwd: folderOf(mcp, server_id),
    at: gateway.clock.now(),
  }
  const { verdict } = await explainCall(gateway, policy, call)
  if (verdict.action === 'allow' || verdict.action === 'transform') return []
  return [
    `rule "${verdict.winners.map(({ rule_id }) => rule_id).join('", "')}" would still say ${verdict.action}, and the strictest wins`,
  ]
}

const MAX_ROWS = 100

/** Who made the call that a person was asked about, as far as it is on record. */
const callerOnRecord = async ({ storage }: Gateway, row: ApprovalRow): Promise<Caller> => {
  const { id, trace_id, client, project_id: project } = row
  const { rows } = await storage.find('mcp_audit', { where: { trace_id, kind: 'decision' }, limit: MAX_ROWS })
  const decision = rows.find(({ approval_id }) => approval_id === id)
  if (decision !== undefined) return callerOf(decision)
  return { agent: null, project, session: null, client: client?.name ?? null, key: [] }
}

/** What a test of the policy says of a caller: all that rules of the policy name. */
const namedIn = ({ rules }: PolicyDocument, caller: Caller): Partial<TestDocument['call']> => {
  const named = callerLists.filter((list) => rules.some(({ when }) => when?.[list] !== undefined))
  const { agent, project, session, client, key } = caller
  const known = { agents: agent, projects: project, sessions: session, clients: client, keys: key.at(-1) ?? null }
  return Object.fromEntries(
    named.flatMap((list) => (known[list] === null ? [] : [[list.slice(0, -1), known[list]] as const])),
  )
}
