import { costText, countText } from '#lib/format'
import { columnLines, listedId } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import type { Simulation } from './simulation.ts'

/** The result of a simulation as text: the sum, then each rule that matched, then each flagged session. */
export const simulationLines = (
  { sessions, requests, mode, flagged, rules }: Simulation,
  width: number | undefined,
): readonly string[] => {
  const verb = mode === 'enforce' ? 'stopped or flagged' : 'flagged'
  const head = `${counted(sessions, 'session')}, ${counted(requests, 'request')}: ${countText(flagged.length)} ${verb}`
  return [
    head,
    ...table(ruleRows(rules), SPARE_OF_RULES, new Map([[0, 14]]), width),
    ...table(sessionRows(flagged, width !== undefined), SPARE_OF_SESSIONS, new Map([[4, 14]]), width),
  ]
}

const counted = (count: number, noun: string): string => `${countText(count)} ${noun}${count === 1 ? '' : 's'}`

/** Differing results, what was not seen, cost, share, requests and tokens after. */
const SPARE_OF_RULES = [6, 7, 5, 2, 3, 4]
/** Equal results, requests and tokens after, the reason, which follows from the rule, and the step. */
const SPARE_OF_SESSIONS = [7, 5, 6, 3, 2]

const table = (
  rows: readonly (readonly string[])[],
  spare: readonly number[],
  free: ReadonlyMap<number, number>,
  width: number | undefined,
): readonly string[] => (rows.length < 2 ? [] : ['', ...columnLines(rows, new Set(), { width, spare, free })])

const ruleRows = (rules: Simulation['rules']): readonly (readonly string[])[] => [
  ['rule', 'sessions', 'share', 'requests after', 'tokens after', 'cost after', 'differing results', 'not seen'],
  ...rules.map((rule) => [
    terminalLine(rule.rule_id),
    countText(rule.sessions),
    `${(rule.share * 100).toFixed(1)} %`,
    countText(rule.requests_after),
    countText(rule.tokens_after),
    costText(rule.cost_after_micro),
    countText(rule.differing_results),
    rule.unseen_sessions === 0 ? '' : counted(rule.unseen_sessions, 'session'),
  ]),
]

const sessionRows = (flagged: Simulation['flagged'], isTerminal: boolean): readonly (readonly string[])[] => [
  ['session', 'request', 'step', 'reason', 'rule', 'requests after', 'tokens after', 'equal results'],
  ...flagged.map((one) => [
    listedId(one.session_id, isTerminal),
    listedId(one.first_request_id, isTerminal),
    countText(one.step),
    terminalLine(one.code),
    terminalLine(one.rule_id),
    countText(one.requests_after),
    countText(one.tokens_after),
    one.results_equal === null ? '' : one.results_equal ? 'yes' : 'no',
  ]),
]
