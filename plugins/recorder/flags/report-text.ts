import { costText, countText } from '#lib/format'
import { columnLines } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import type { Report } from './report.ts'
import { AT_MOST, blockedText, savedText } from './words.ts'

const RULES = [
  'rule',
  'reason',
  'sessions',
  'flagged',
  'blocked',
  'requests after',
  'tokens after',
  'cost after',
] as const
const SESSIONS = ['session', 'id', 'project', 'agent', 'rule', 'flagged', 'tokens after', 'cost after', 'of'] as const
/** Blocked, reason, requests. */
const SPARE_OF_RULES = [4, 1, 5]
/** What it cost in all, agent, project, tokens. */
const SPARE_OF_SESSIONS = [8, 3, 2, 6]

/** A report as lines for a terminal of that many columns. */
export const reportLines = (report: Report, width: number | undefined): readonly string[] => [
  ...sentencesOf(report),
  ...table([RULES, ...ruleCells(report)], new Set([2, 3, 4, 5, 6, 7]), { width, spare: SPARE_OF_RULES }),
  ...table([SESSIONS, ...sessionCells(report)], new Set([5, 6, 7, 8]), { width, spare: SPARE_OF_SESSIONS }),
]

/** A report as Markdown. */
export const reportMarkdown = (report: Report): readonly string[] => [
  `## What loops cost, ${day(report.since)} to ${day(report.until)}${report.project_id === null ? '' : `, project ${inline(report.project_id)}`}`,
  '',
  ...sentencesOf(report).flatMap((line) => [line, '']),
  ...markdownTable('Rules', [RULES, ...ruleCells(report)], 2),
  ...markdownTable('Sessions', [SESSIONS, ...sessionCells(report)], 5),
]

/** What the report says in words, the figure first. */
const sentencesOf = (report: Report): readonly string[] => {
  const { saved, since, until } = report
  const time = `from ${minute(since)} to ${minute(until)} UTC`
  return [
    savedText(saved, report.currency ?? '', time),
    ...(saved.requests_since_flag === 0 ? [] : [AT_MOST]),
    blockedText(report),
  ].filter((line) => line !== '')
}

const ruleCells = ({ rules }: Report): readonly (readonly string[])[] =>
  rules.map((rule) => [
    `${rule.rule_id ?? '(no rule)'}${rule.would_refuse ? '' : ` (${rule.action ?? 'flag'})`}`,
    rule.reason ?? '',
    countText(rule.sessions),
    countText(rule.flagged),
    countText(rule.blocked),
    countText(rule.requests_since_flag),
    countText(rule.tokens_since_flag),
    costText(rule.cost_since_flag_micro),
  ])

const sessionCells = ({ sessions }: Report): readonly (readonly string[])[] =>
  sessions.map((one) => [
    one.name ?? one.external_id ?? '',
    one.session_id,
    one.project_id,
    one.agent_id ?? '',
    one.rule_id ?? one.reason ?? '',
    countText(one.flagged + one.blocked),
    countText(one.tokens_since_flag),
    costText(one.cost_since_flag_micro),
    one.cost_micro === null ? '' : costText(one.cost_micro),
  ])

const table = (
  rows: readonly (readonly string[])[],
  figures: ReadonlySet<number>,
  fit: { readonly width: number | undefined; readonly spare: readonly number[] },
): readonly string[] =>
  rows.length < 2
    ? []
    : [
        '',
        ...columnLines(
          rows.map((row) => row.map((cell) => terminalLine(cell))),
          figures,
          fit,
        ),
      ]

/** `figures`: the first column that holds figures. */
const markdownTable = (
  title: string,
  [head = [], ...rows]: readonly (readonly string[])[],
  figures: number,
): readonly string[] =>
  rows.length === 0
    ? []
    : [
        `### ${title}`,
        '',
        markdownRow(head),
        markdownRow(head.map((_cell, at) => (at < figures ? '---' : '---:'))),
        ...rows.map((row) => markdownRow(row.map(inline))),
        '',
      ]

const markdownRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

/** Names that clients choose, so that they are text in a table and nothing else. */
const inline = (text: string): string => terminalLine(text).replaceAll(/[\\`*_[\]<>|~#!&]/g, '\\$&')

const day = (instant: string): string => instant.slice(0, 10)
const minute = (instant: string): string => instant.slice(0, 16).replace('T', ' ')
