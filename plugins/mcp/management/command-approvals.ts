import { readJson } from '#lib/json'
import { columnLines, hint, listedId, listedTime, paintedWord, painter, terminalWidth, wholeId } from '#lib/terminal'
import type { ApprovalView, WholeApprovalView } from './approval-schemas.ts'
import { type CommandContext, getText, postText, printAnswer, queryOf } from './command-context.ts'
import { visibleLine } from './visible-line.ts'

const filters = { status: 'status', serverId: 'server_id', limit: 'limit', cursor: 'cursor' }

interface ApprovalsPage {
  readonly approvals: readonly ApprovalView[]
  readonly next_cursor: string | null
}

/** Prints approvals, those that wait for a decision first, the others newest first; of those that wait, what they are about. */
export const listApprovals = async (context: CommandContext): Promise<number> => {
  const { io, input } = context
  const answer = await getText(context, `/approvals${queryOf(input, filters)}`)
  if (input.options.json === true) {
    printAnswer<ApprovalsPage>(answer, context, () => [])
    return 0
  }
  const { approvals, next_cursor } = readJson(answer) as ApprovalsPage
  const { status, cursor, serverId } = input.options
  const isWhole = status === undefined && cursor === undefined
  const first = isWhole ? (await waiting(context)).filter(({ server_id }) => server_id === (serverId ?? server_id)) : []
  const waits = new Set(first.map(({ id }) => id))
  for (const line of listLines([...first, ...approvals.filter(({ id }) => !waits.has(id))], context))
    io.out.write(`${line}\n`)
  if (first.length + approvals.length === 0) io.err.write('There are no such approvals.\n')
  if (next_cursor !== null) hint(`more: --cursor ${next_cursor}`, input, io)
  return 0
}

const head = ['call', 'status', 'asked', 'client', 'id']

/** A line for each approval below a head, and what somebody must know who decides it. */
const listLines = (approvals: readonly ApprovalView[], { io, input, now }: CommandContext): readonly string[] => {
  if (approvals.length === 0) return []
  const width = terminalWidth(io.out)
  const colour = painter(input, io)
  const rows = approvals.map(({ id, tool, server_id, client, created_at, ...approval }) => [
    `${visibleLine(tool)} on ${visibleLine(server_id)}`,
    stateOf(approval),
    listedTime(Date.parse(created_at), now, width !== undefined),
    visibleLine(client?.name ?? ''),
    listedId(id, width !== undefined),
  ])
  const [first = '', ...lines] = columnLines([head, ...rows], new Set(), {
    width,
    spare: [3],
    free: new Map([
      [0, 24],
      [3, 10],
    ]),
    paint: (cell, column) => (column === 1 ? paintedWord(cell, colour) : cell),
  })
  return [first, ...lines.flatMap((line, at) => [line, ...detailLines(approvals[at])])]
}

/** The approval that is meant by what a list shows of its id. */
export const approvalId = (context: Pick<CommandContext, 'ask'>, typed = ''): Promise<string> =>
  wholeId(typed, async () => {
    const { approvals } = readJson(await getText(context, '/approvals?limit=200')) as ApprovalsPage
    return [...(await waiting(context)), ...approvals].map(({ id }) => id)
  })

/** Submits a decision and prints what the approval is then. */
export const decideApproval = async (context: CommandContext, action: 'allow' | 'deny'): Promise<number> => {
  const { scope, reason, argumentHash } = context.input.options
  const body = {
    action,
    ...(scope === undefined ? {} : { scope }),
    ...(reason === undefined ? {} : { reason: String(reason) }),
    ...(argumentHash === undefined ? {} : { argument_hash: String(argumentHash) }),
  }
  const answer = await decided(context, await approvalId(context, context.input.args[0]), body)
  printAnswer<ApprovalView>(answer, context, (approval) => [lineOf(approval)])
  return 0
}

/** Prints one approval with its arguments to the end. */
export const showApproval = async (context: CommandContext): Promise<number> => {
  const answer = await getText(
    context,
    `/approvals/${encodeURIComponent(await approvalId(context, context.input.args[0]))}`,
  )
  printAnswer<WholeApprovalView>(answer, context, (approval) => [wholeLines(approval)])
  return 0
}

/** Takes an allowance back that is not used yet, and prints what the approval is then. */
export const undoApproval = async (context: CommandContext): Promise<number> => {
  const id = await approvalId(context, context.input.args[0])
  const answer = await postText(context, `/approvals/${encodeURIComponent(id)}/undo`, {})
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
  const { approvals } = readJson(await getText(context, '/approvals?status=pending&limit=500')) as ApprovalsPage
  return approvals.toReversed()
}

const stateOf = ({ status, scope }: Pick<ApprovalView, 'status' | 'scope'>): string =>
  status === 'allowed' ? `allowed ${scope}` : status

const lineOf = (approval: ApprovalView): string => {
  const { id, server_id, tool, client } = approval
  const who = client === null ? '' : `  for ${visibleLine(client.name)}`
  return `${id}  ${stateOf(approval).padEnd(15)}  ${visibleLine(tool)} on ${visibleLine(server_id)}${who}`
}

/** An approval with what somebody must know who decides it. */
export const approvalLines = (approval: ApprovalView): string => [lineOf(approval), ...detailLines(approval)].join('\n')

const detailLines = (approval: ApprovalView | undefined): readonly string[] => {
  if (approval?.status !== 'pending') return []
  const { rule_ids, expires_at, message, findings, preview, sent_preview } = approval
  const lines = [`  asked by ${rule_ids.map(visibleLine).join(', ')}  until ${expires_at}`, ...quotedLines(approval)]
  if (message !== null) lines.push(`  ${visibleLine(message)}`)
  for (const { pointer, reason } of findings) lines.push(`  ${visibleLine(`${pointer} ${reason}`)}`)
  if (preview !== null) lines.push(`  arguments ${visibleLine(preview)}`)
  if (sent_preview !== null) lines.push(`  forwarded as ${visibleLine(sent_preview)}`)
  return lines
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
