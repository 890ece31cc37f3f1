import { hint } from 'guard-gateway/lib/terminal'
import type { ApprovalView, WholeApprovalView } from './approval-schemas.ts'
import { type CommandContext, getText, postText, printAnswer, queryOf } from './command-context.ts'
import { visibleLine } from './visible-line.ts'

const filters = { status: 'status', serverId: 'server_id', limit: 'limit', cursor: 'cursor' }

interface ApprovalsPage {
  readonly approvals: readonly ApprovalView[]
  readonly next_cursor: string | null
}

/** Prints approvals, newest first; of those that wait, what they are about. */
export const listApprovals = async (context: CommandContext): Promise<number> => {
  const { io, input } = context
  const answer = await getText(context, `/approvals${queryOf(input, filters)}`)
  printAnswer<ApprovalsPage>(answer, context, ({ approvals, next_cursor }) => {
    if (approvals.length === 0) io.err.write('There are no such approvals.\n')
    if (next_cursor !== null) hint(`more: --cursor ${next_cursor}`, input, io)
    return approvals.map(approvalLines)
  })
  return 0
}

/** Submits a decision and prints what the approval is then. */
export const decideApproval = async (context: CommandContext, action: 'allow' | 'deny'): Promise<number> => {
  const { scope, reason, argumentHash } = context.input.options
  const body = {
    action,
    ...(scope === undefined ? {} : { scope }),
    ...(reason === undefined ? {} : { reason: String(reason) }),
    ...(argumentHash === undefined ? {} : { argument_hash: String(argumentHash) }),
  }
  const answer = await decided(context, context.input.args[0] ?? '', body)
  printAnswer<ApprovalView>(answer, context, (approval) => [lineOf(approval)])
  return 0
}

/** Prints one approval with its arguments to the end. */
export const showApproval = async (context: CommandContext): Promise<number> => {
  const answer = await getText(context, `/approvals/${encodeURIComponent(context.input.args[0] ?? '')}`)
  printAnswer<WholeApprovalView>(answer, context, (approval) => [wholeLines(approval)])
  return 0
}

/** Takes an allowance back that is not used yet, and prints what the approval is then. */
export const undoApproval = async (context: CommandContext): Promise<number> => {
  const answer = await postText(context, `/approvals/${encodeURIComponent(context.input.args[0] ?? '')}/undo`, {})
  printAnswer<ApprovalView>(answer, context, (approval) => [lineOf(approval)])
  return 0
}

/** The same approval with its arguments to the end. */
export const wholeLines = ({ arguments: args, sent_arguments, ...approval }: WholeApprovalView): string => {
  const { preview, sent_preview, argument_hash } = approval
  const whole = { ...approval, preview: args ?? preview, sent_preview: sent_arguments ?? sent_preview }
  return `${approvalLines(whole)}\n  hash of the arguments ${argument_hash}`
}

/** One approval as it is now, with its arguments to the end. */
export const wholeById = async (context: Pick<CommandContext, 'ask'>, id: string): Promise<WholeApprovalView> =>
  JSON.parse(await getText(context, `/approvals/${encodeURIComponent(id)}`)) as WholeApprovalView

/** Sends a decision about one approval. */
export const decided = (context: CommandContext, id: string, body: object): Promise<string> =>
  postText(context, `/approvals/${encodeURIComponent(id)}`, body)

/** Approvals that wait for a decision, oldest first. */
export const waiting = async (context: Pick<CommandContext, 'ask'>): Promise<readonly ApprovalView[]> => {
  const { approvals } = JSON.parse(await getText(context, '/approvals?status=pending&limit=500')) as ApprovalsPage
  return approvals.toReversed()
}

const lineOf = ({ id, status, scope, server_id, tool, client }: ApprovalView): string => {
  const state = status === 'allowed' ? `allowed ${scope}` : status
  const who = client === null ? '' : `  for ${visibleLine(client.name)}`
  return `${id}  ${state.padEnd(15)}  ${visibleLine(tool)} on ${visibleLine(server_id)}${who}`
}

/** An approval with what somebody must know who decides it. */
export const approvalLines = (approval: ApprovalView): string => {
  const lines = [lineOf(approval)]
  if (approval.status !== 'pending') return lines.join('\n')
  lines.push(`  asked by ${approval.rule_ids.map(visibleLine).join(', ')}  until ${approval.expires_at}`)
  lines.push(...quotedLines(approval))
  if (approval.message !== null) lines.push(`  ${visibleLine(approval.message)}`)
  for (const { pointer, reason } of approval.findings) lines.push(`  ${visibleLine(`${pointer} ${reason}`)}`)
  if (approval.preview !== null) lines.push(`  arguments ${visibleLine(approval.preview)}`)
  if (approval.sent_preview !== null) lines.push(`  forwarded as ${visibleLine(approval.sent_preview)}`)
  return lines.join('\n')
}

/** What the server says of its own tool, marked as its words. */
const quotedLines = ({ tool_says }: ApprovalView): readonly string[] => {
  if (tool_says === null) return []
  const { title, description, annotations } = tool_says
  const hints = Object.entries(annotations).map(([name, value]) => `${name}: ${value}`)
  return [title, description, hints.join(', ')].flatMap((words) =>
    words === null || words === '' ? [] : [`  the server says, unchecked: ${visibleLine(words)}`],
  )
}
