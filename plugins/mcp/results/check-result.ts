import type { Gateway } from 'guard-gateway/core'
import { isScanFault, memberIn, parseJson, scanJson, sourceOf } from 'guard-gateway/lib/json'
import { type Frame, resultFrame } from 'guard-gateway/lib/json-rpc'
import type { ResultContext, ResultFinding } from 'guard-gateway/lib/mcp-check'
import { withheldResult } from '../actions/texts.ts'
import { checkDeadline } from '../policy/checks.ts'
import type { CompiledResultCheck } from '../policy/compiled.ts'
import { shownReason } from '../policy/message.ts'
import { mend, mendedText } from './mend.ts'
import { type ReadResult, readResult } from './read-result.ts'
import type { RecordedFinding } from './recorded-finding.ts'
import { findingsOf } from './run-check.ts'

/** What came of checking a result. */
export interface CheckedResult {
  /** The message in place of the one that came; undefined: that one. */
  readonly text?: string
  readonly findings: readonly RecordedFinding[]
}

/** What checking the results of a server needs. */
export interface ResultParts {
  readonly gateway: Gateway
  readonly server_id: string
  /** Why a tool's structured result does not fit its `outputSchema`; undefined if it does, or if there is none. */
  readonly outputFault: (tool: string, value: unknown) => Promise<string | undefined>
}

/** What is kept of one result. */
const MAX_RECORDED = 50

/**
 * Lets the checks look at a result, one after the other, each at what those before it have left; what cuts comes last. What a check
 * objects to is recorded, mended, or makes the whole result be withheld; so does what cannot be mended.
 */
export const checkResult = async (
  { gateway, server_id, outputFault }: ResultParts,
  frame: Frame,
  tool: string,
  checks: readonly CompiledResultCheck[],
): Promise<CheckedResult> => {
  const result = readResult(frame)
  if (result === undefined) return { findings: [] }
  const at: ResultContext = { server_id, tool, redact: gateway.service('resultRedactor').get() ?? gateway.redact }
  const recorded: RecordedFinding[] = []
  const wait = checkDeadline()
  try {
    for (const check of checks.toSorted(byTurn)) {
      const findings = [...unexamined(result), ...(await findingsOf(check, result, at, wait))]
      recorded.push(...acted(check, result, findings))
    }
  } finally {
    wait.end()
  }
  recorded.push(...(await misfits(frame, result, tool, recorded, outputFault)))
  const findings = recorded
    .toSorted(deniedFirst)
    .slice(0, MAX_RECORDED)
    .map((one) => shown(one, gateway))
  const [denied] = recorded.filter(({ action }) => action === 'deny')
  if (denied !== undefined) return { text: withheld(frame, tool, recorded), findings }
  return result.parts.some(({ changed }) => changed) ? { text: mendedText(frame, result), findings } : { findings }
}

const byTurn = (one: CompiledResultCheck, other: CompiledResultCheck): number => turn(one) - turn(other)
const turn = ({ check }: CompiledResultCheck): number => (check.mends === 'cut' ? 1 : 0)
const deniedFirst = (one: RecordedFinding, other: RecordedFinding): number =>
  Number(other.action === 'deny') - Number(one.action === 'deny')

const unexamined = ({ unexamined: left }: ReadResult): readonly ResultFinding[] =>
  left.map((one) => ({ ...one, certain: false }))

/** Does what the policy says about findings, and tells what was done about each. */
const acted = (
  { action, rule_id, check }: CompiledResultCheck,
  result: ReadResult,
  findings: readonly ResultFinding[],
): readonly RecordedFinding[] => {
  const isMending = action === 'redact' || action === 'cut'
  const left = new Set(isMending ? mend(result, findings) : [])
  return findings.map((finding) => {
    const { pointer, reason, certain } = finding
    return { rule_id, check: check.id, pointer, reason, certain, action: left.has(finding) ? 'deny' : action }
  })
}

/** A changed structure that its tool's schema does not allow is refused by clients, with an error that says nothing of why. */
const misfits = async (
  frame: Frame,
  result: ReadResult,
  tool: string,
  recorded: readonly RecordedFinding[],
  outputFault: ResultParts['outputFault'],
): Promise<readonly RecordedFinding[]> => {
  const isChanged = result.parts.some(({ kind, changed }) => kind === 'structured' && changed)
  const [last] = recorded.filter(
    ({ pointer, action }) => action !== 'shadow' && pointer.startsWith('/structuredContent'),
  )
  if (!isChanged || last === undefined) return []
  const fault = await outputFault(tool, structureIn(mendedText(frame, result)))
  if (fault === undefined) return []
  const reason = 'cannot be changed so that it still fits what the tool says of its results'
  return [{ ...last, pointer: '/structuredContent', reason, certain: true, action: 'deny' }]
}

const structureIn = (text: string): unknown => {
  const scan = scanJson(text, { keep: 2 })
  if (isScanFault(scan)) return undefined
  const structure = memberIn(memberIn(scan.root, 'result')?.value, 'structuredContent')?.value
  return structure === undefined ? undefined : parseJson(sourceOf(text, structure))
}

const shown = (finding: RecordedFinding, { redact }: Gateway): RecordedFinding => ({
  ...finding,
  pointer: shownReason(finding.pointer, redact),
  reason: shownReason(finding.reason, redact),
})

const withheld = ({ id = 'null' }: Frame, tool: string, recorded: readonly RecordedFinding[]): string =>
  resultFrame(
    id,
    JSON.stringify(
      withheldResult(
        tool,
        recorded.filter(({ action }) => action === 'deny'),
      ),
    ),
  )
