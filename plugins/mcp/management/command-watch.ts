import { createInterface, type Interface } from 'node:readline/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { GuardError } from 'guard-gateway/core'
import type { ApprovalView } from './approval-schemas.ts'
import { approvalLines, decided, waiting, wholeById, wholeLines } from './command-approvals.ts'
import type { CommandContext } from './command-context.ts'

const POLL_MS = 1_000
const INTERRUPTED = 130
const MAX_WORDS = 500

const decisions: ReadonlyMap<string, object> = new Map<string, object>([
  ['a', { action: 'allow', scope: 'once' }],
  ['s', { action: 'allow', scope: 'session' }],
  ['d', { action: 'deny' }],
])

/** Shows new approvals until it is interrupted, its input ends, or its output is closed; on a terminal it asks what to do. */
export const watchApprovals = async (context: CommandContext): Promise<number> => {
  const stop = new AbortController()
  const interrupt = () => stop.abort()
  let code = INTERRUPTED
  const readerLeft = () => {
    code = 0
    interrupt()
  }
  const { out } = context.io
  process.once('SIGINT', interrupt)
  out.once('error', readerLeft)
  const asks = isTerminal(context)
    ? createInterface({ input: context.io.in ?? process.stdin, output: context.io.err })
    : undefined
  asks?.once('SIGINT', interrupt).once('close', interrupt)
  try {
    await watch(context, asks, stop.signal)
    return code
  } finally {
    process.off('SIGINT', interrupt)
    out.off('error', readerLeft)
    asks?.close()
  }
}

const isTerminal = ({ io, input }: CommandContext): boolean =>
  input.options.json !== true && io.in !== undefined && 'isTTY' in io.in && io.in.isTTY === true

const watch = async (context: CommandContext, asks: Interface | undefined, signal: AbortSignal): Promise<void> => {
  const seen = new Set<string>()
  while (!signal.aborted) {
    const fresh = (await waiting(context)).filter(({ id }) => !seen.has(id))
    for (const approval of fresh) {
      if (signal.aborted) return
      seen.add(approval.id)
      show(approval, context)
      if (asks !== undefined) await askAbout(approval, context, asks, signal)
    }
    await pause(POLL_MS, undefined, { signal }).catch(() => {})
  }
}

const show = (approval: ApprovalView, { io, input }: CommandContext): void =>
  void io.out.write(`${input.options.json === true ? JSON.stringify(approval) : approvalLines(approval)}\n`)

const askAbout = async (
  approval: ApprovalView,
  context: CommandContext,
  asks: Interface,
  signal: AbortSignal,
): Promise<void> => {
  const whole = await wholeById(context, approval.id).catch(() => undefined)
  const hides = whole?.arguments !== undefined
  const ask = `${hides ? 'Not all of the arguments is shown. [r]ead all, ' : ''}[a]llow once, [s]ession, [d]eny, [i]gnore? `
  let letter = ''
  while (letter !== 'i' && !decisions.has(letter)) {
    const typed = await asks.question(ask, { signal }).catch(() => 'i')
    letter = signal.aborted ? 'i' : typed.trim().toLowerCase().charAt(0)
    if (letter === 'r' && whole !== undefined) context.io.out.write(`${wholeLines(whole)}\n`)
  }
  const decision = decisions.get(letter)
  if (decision === undefined) return
  const reason =
    letter === 'd'
      ? await asks.question('Why? The agent reads it; may be left empty. ', { signal }).catch(() => '')
      : ''
  await take(
    approval,
    { ...decision, ...(reason.trim() === '' ? {} : { reason: reason.trim().slice(0, MAX_WORDS) }) },
    context,
  )
}

const take = async ({ id, argument_hash }: ApprovalView, decision: object, context: CommandContext): Promise<void> => {
  const { err } = context.io
  try {
    const { status } = JSON.parse(await decided(context, id, { ...decision, argument_hash })) as ApprovalView
    err.write(`${id} ${status}\n`)
  } catch (error) {
    // somebody else was quicker, or the time is over: the next question may still be open
    if (!(error instanceof GuardError) || error.status === 401) throw error
    err.write(`${error.message}\n`)
  }
}
